#include "coldtrace/tracefile/etl/catalog.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <iterator>
#include <limits>
#include <map>

#include "coldtrace/core/parallel.hpp"
#include "coldtrace/tracefile/etl/buffer_walker.hpp"
#include "coldtrace/tracefile/etl/running_threads.hpp"
#include "coldtrace/tracefile/names/payload_threads.hpp"
#include "tracefile/etl/buffer_losses.hpp"
#include "tracefile/etl/buffer_processors.hpp"
#include "tracefile/etl/buffer_sequence.hpp"
#include "tracefile/etl/event_kind_tally.hpp"
#include "tracefile/etl/pointer_size_check.hpp"
#include "tracefile/providers/schema_collector.hpp"

namespace coldtrace::tracefile {
namespace {

// Parts of the file that one thread reads at a time. Their number does not depend on the threads,
// so that neither does the result.
constexpr std::size_t buffers_per_part = 64;
constexpr std::size_t most_schema_keys = 65'536;
constexpr std::size_t most_message_pdbs = 4096;
constexpr std::size_t largest_kept_payloads = std::size_t{32} << 20;

struct Part {
  std::size_t file = 0;
  std::size_t first = 0;
  std::size_t count = 0;
  std::size_t number = 0;  // of the first buffer among those of all files
  NameRecords names;
  std::vector<KeptEvent> kept;
  std::size_t kept_bytes = 0;
  EventKindTally::Part kinds;
  std::vector<Gap> gaps;
  std::map<u32, std::vector<Stretch>> damage;
  core::Findings findings;
  u64 events = 0;
  u64 bytes = 0;
  bool has_switches = false;          // by which threads of other events are known
  bool wants_events_by_them = false;  // the sieve lets such through
};

// When a buffer was written, in the clock of its events. Merged files have it as FILETIME, others
// nothing, and neither is the time of an event. Source: no event of nine files of Windows 7 to 11,
// 261,000 in all, is later.
i64 latest_time(const BufferEntry& entry, const BufferScan& scan) {
  if (!scan.has_header || entry.flush_time <= scan.first_timestamp)
    return std::numeric_limits<i64>::max();
  return scan.other_clock ? scan.other_clock->apply(entry.flush_time) : entry.flush_time;
}

class PartReader {
 public:
  // `counter` may be null, and so may `met`, which ends the reading where the sieve lets an event
  // through.
  PartReader(std::span<ScannedFile> files, const CatalogOptions& options,
             EventKindTally::Counter* counter, std::atomic<bool>* met)
      : files_{files}, options_{options}, counter_{counter}, met_{met} {}

  // Of all parts that this reader read.
  const std::set<SchemaKey>& schema_keys() const { return schema_keys_; }
  const std::set<MessagePdb>& message_pdbs() const { return message_pdbs_; }

  void read(Part& part) {
    if (counter_ != nullptr) counter_->begin_part();
    pointer_sizes_.reset();
    if (part.first == 0 && options_.pointer_size == 0) pointer_sizes_.emplace();
    for (std::size_t i = 0; i < part.count && !has_met(); ++i) {
      part.bytes += files_[part.file].scan.buffers[part.first + i].size;
      read_buffer(part, static_cast<u32>(part.first + i));
      if (counter_ != nullptr) counter_->end_buffer(static_cast<u32>(part.number + i));
    }
    if (counter_ != nullptr) part.kinds = counter_->end_part();
    if (pointer_sizes_ && part.count > 0)
      pointer_sizes_->report(part.findings, files_[part.file].scan.buffers[part.first].offset);
  }

 private:
  bool has_met() const { return met_ != nullptr && *met_; }

  void read_buffer(Part& part, u32 index) {
    auto& scan = files_[part.file].scan;
    auto& entry = scan.buffers[index];
    const auto& buffer = loader_.load(*files_[part.file].source, entry, scan.compression);
    const auto context = context_of(entry, scan);
    BufferWalker walker{buffer.bytes, context, static_cast<u32>(BufferHeader::size_on_disk),
                        OnDamage::pass, options_.pointer_size};
    if (options_.sieve != nullptr) entry.wanted = false;
    entry.latest_time = latest_time(entry, scan);
    i64 before = entry.latest_time;
    std::size_t told = 0;
    while (walker.next()) {
      for (; told < walker.damage().size(); ++told)
        report_damage(part, entry, context.cpu, walker.damage()[told], told == 0);
      const auto& event = walker.event();
      if (const auto inside = walker.uncertain_from())
        part.findings.warning("event-size", place_of(context, event.offset),
                              "an event of {} bytes may hold other events, from its byte {} on: "
                              "its size may be damaged",
                              event.size, *inside);
      i64 time = event.timestamp;
      if (entry.events == 0) entry.last_time = time;
      entry.last_time = std::max(entry.last_time, time);
      if (time > entry.latest_time) {
        if (has_time_of_its_own(event))
          part.findings.warning("event-late", place_of(context, event.offset),
                                "events are dated after their buffer was written");
        time = before;
      }
      if (entry.events == 0) {
        entry.first_time = time;
      } else if (time < before && has_time_of_its_own(event)) {
        part.findings.info("event-order", place_of(context, event.offset),
                           "events in a buffer are not in time order");
        entry.wanted = true;  // it orders others
      }
      entry.first_time = std::min(entry.first_time, time);
      before = time;
      ++entry.events;
      if (has_time_of_its_own(event)) {
        if (entry.timed_events++ == 0) entry.begin_time = time;
        entry.end_time = time;
      }
      visit(part, event);
      if (options_.sieve != nullptr) sift(part, entry, event);
      if (has_met()) return;
    }
    part.events += entry.events;
    report_loss(part, entry, context.cpu);
    for (const auto& damage : walker.damage())
      part.damage[index].push_back({damage.offset, damage.size});
    const auto damage = damage_of(entry, buffer, walker);
    entry.ends_in_damage =
        entry.cut || buffer.damaged ||
        (!damage.empty() && damage.back().offset + damage.back().size >= buffer.bytes.size());
    for (; told < damage.size(); ++told)
      report_damage(part, entry, context.cpu, damage[told], told == 0);
    // The finding is that of what the buffer claims.
    if (entry.cut && damage.empty())
      part.gaps.push_back({Gap::Reason::damaged, entry.offset, entry.size,
                           entry.events > 0 ? std::optional{entry.last_time} : std::nullopt,
                           context.cpu});
  }

  void visit(Part& part, const Event& event) {
    if (counter_ != nullptr) counter_->count(event);
    if (pointer_sizes_) pointer_sizes_->look(event);
    if (options_.names) part.names.add(event);
    if (SchemaCollector::wants(event)) keep(part, event);
    if (auto pdb = find_message_pdb(event); pdb && message_pdbs_.size() < most_message_pdbs)
      message_pdbs_.insert(std::move(*pdb));
    if (!options_.schema_keys) return;
    if (const auto key = outside_key_of(event)) add_schema_key(*key);
  }

  // Of processes and threads as far as the event itself has them.
  void sift(Part& part, BufferEntry& entry, Event event) {
    payload_threads_.apply(event, no_names_);
    const bool is_switch = RunningThreads::is_switch(event);
    part.has_switches |= is_switch;
    if (!options_.sieve->lets_through(event)) return;
    if (met_ != nullptr) *met_ = true;
    entry.wanted = true;
    part.wants_events_by_them |= is_switch || RunningThreads::may_complete(event);
  }

  // The smallest ones stay, so that it does not matter who read which part.
  void add_schema_key(const SchemaKey& key) {
    if (last_key_ == key) return;
    last_key_ = key;
    schema_keys_.insert(key);
    if (schema_keys_.size() > most_schema_keys) schema_keys_.erase(std::prev(schema_keys_.end()));
  }

  static void keep(Part& part, const Event& event) {
    if (event.payload.size() > largest_kept_payloads - part.kept_bytes) return;
    part.kept_bytes += event.payload.size();
    part.kept.push_back({event, {event.payload.begin(), event.payload.end()}});
    auto& kept = part.kept.back();
    kept.event.file = static_cast<u16>(part.file);
    kept.event.payload = kept.payload;
    kept.event.header = {};
    kept.event.extended = {};
    kept.event.activity = {};
  }

  static std::optional<i64> start_of(const BufferEntry& entry) {
    return entry.events > 0 ? std::optional{entry.first_time} : std::nullopt;
  }

  static void report_loss(Part& part, const BufferEntry& entry, std::optional<u16> cpu) {
    const auto gap = [&](Gap::Reason reason) {
      part.gaps.push_back({reason, entry.offset, 0, start_of(entry), cpu});
    };
    if ((entry.flags & BufferHeader::events_lost) != 0) {
      part.findings.warning("gap-events-lost", entry.offset,
                            "the logger lost events before this buffer");
      gap(Gap::Reason::events_lost);
    }
    if ((entry.flags & BufferHeader::buffer_lost) != 0) {
      part.findings.warning("gap-buffers-lost", entry.offset,
                            "the logger lost buffers before this one");
      gap(Gap::Reason::buffers_lost);
    }
  }

  // All that is lost of the buffer. What is lost behind its last event is lost up to its end.
  static std::vector<BufferDamage> damage_of(const BufferEntry& entry, const Buffer& buffer,
                                             const BufferWalker& walker) {
    auto damage = walker.damage();
    const bool to_the_end =
        !damage.empty() && damage.back().offset + damage.back().size >= buffer.bytes.size();
    if (buffer.damaged && !to_the_end) damage.push_back({walker.offset(), 0, buffer.error});
    if (buffer.damaged || to_the_end)
      damage.back().size = entry.size - std::min(damage.back().offset, entry.size);
    return damage;
  }

  static void report_damage(Part& part, const BufferEntry& entry, std::optional<u16> cpu,
                            const BufferDamage& damage, bool first) {
    const bool unreadable = damage.error.fault == core::Fault::io;
    if (unreadable)
      part.findings.warning("trace-unreadable", damage.error);
    else
      part.findings.warning("buffer-damaged", damage.error);
    if (entry.compressed() && !first) return;  // the gap is the buffer
    const auto [offset, size] =
        entry.compressed() ? std::pair{0U, entry.size} : std::pair{damage.offset, damage.size};
    part.gaps.push_back({unreadable ? Gap::Reason::unreadable : Gap::Reason::damaged,
                         entry.offset + offset, size,
                         entry.events > 0 ? std::optional{entry.last_time} : std::nullopt, cpu});
  }

  std::span<ScannedFile> files_;
  const CatalogOptions& options_;
  EventKindTally::Counter* counter_;
  std::atomic<bool>* met_;
  std::optional<PointerSizeCheck> pointer_sizes_;  // in the first part
  BufferLoader loader_;
  PayloadThreads payload_threads_;  // for the sieve
  const NameTables no_names_{0};
  SchemaKey last_key_{{}, 0, 0, true};  // none
  std::set<SchemaKey> schema_keys_;
  std::set<MessagePdb> message_pdbs_;
};

// The parts of all files, file by file.
class Parts {
 public:
  explicit Parts(std::span<const ScannedFile> files) : files_{files} {}

  bool next(Part& part) {
    while (file_ < files_.size() && first_ == files_[file_].scan.buffers.size()) {
      ++file_;
      first_ = 0;
    }
    if (file_ == files_.size()) return false;
    part = Part{};
    part.file = file_;
    part.first = first_;
    part.count = std::min(buffers_per_part, files_[file_].scan.buffers.size() - first_);
    part.number = number_;
    first_ += part.count;
    number_ += part.count;
    return true;
  }

 private:
  std::span<const ScannedFile> files_;
  std::size_t file_ = 0;
  std::size_t first_ = 0;
  std::size_t number_ = 0;
};

// The events of the buffer with a number among those of all files.
void visit_buffer(std::span<const ScannedFile> files, u32 number, unsigned pointer_size,
                  const std::function<void(const Event&)>& visitor) {
  while (number >= files[0].scan.buffers.size()) {
    number -= static_cast<u32>(files[0].scan.buffers.size());
    files = files.subspan(1);
  }
  const auto& scan = files[0].scan;
  const auto& entry = scan.buffers[number];
  const auto buffer = load_buffer(*files[0].source, entry, scan.compression);
  BufferWalker walker{buffer->bytes, context_of(entry, scan),
                      static_cast<u32>(BufferHeader::size_on_disk), OnDamage::pass, pointer_size};
  while (walker.next()) visitor(walker.event());
}

// What is told of the progress of two readings of one trace, as if it were one.
struct Told {
  u64 bytes = 0;
  u64 events = 0;

  void tell(core::Progress* progress, u64 more_bytes, u64 more_events) {
    const auto known_bytes = std::min(bytes, more_bytes);
    const auto known_events = std::min(events, more_events);
    bytes -= known_bytes;
    events -= known_events;
    if (progress != nullptr) progress->add(more_bytes - known_bytes, more_events - known_events);
  }
};

// Makes the files as they were before their events were read.
void forget_events(std::span<ScannedFile> files, const std::vector<std::size_t>& gaps) {
  for (std::size_t i = 0; i < files.size(); ++i) {
    files[i].events = 0;
    files[i].scan.gaps.resize(gaps[i]);
    files[i].scan.damage.clear();
    for (auto& entry : files[i].scan.buffers) entry.events = entry.timed_events = 0;
  }
}

}  // namespace

BufferContext context_of(const BufferEntry& entry, const BufferScan& scan) {
  return {entry.offset, entry.compressed(), processor_of(entry, scan),
          scan.other_clock ? &*scan.other_clock : nullptr};
}

namespace {

// Nothing where `met`, which may be null, has ended the reading. `told` was told before, and is
// what is told then.
std::optional<Catalog> read_events(std::span<ScannedFile> files, const CatalogOptions& options,
                                   std::span<core::Findings> findings, std::atomic<bool>* met,
                                   Told& told) {
  const auto jobs = std::max(options.jobs, 1U);
  std::optional<EventKindTally> tally;
  if (options.kinds) tally.emplace(jobs, options.schemas);
  std::deque<PartReader> readers;
  for (unsigned i = 0; i < jobs; ++i)
    readers.emplace_back(files, options, tally ? &tally->counter(i) : nullptr, met);
  SchemaCollector schemas;
  NameTables names{options.largest_names};
  u64 events = 0;
  bool has_switches = false;
  bool wants_events_by_them = false;
  Told total;
  Parts parts{files};
  core::ordered_pipeline<Part>(
      jobs, [&](Part& part) { return (met == nullptr || !*met) && parts.next(part); },
      [&](unsigned worker, Part& part) { readers[worker].read(part); },
      [&](Part& part) {
        auto& scan = files[part.file].scan;
        auto& found = findings[part.file];
        events += part.events;
        has_switches |= part.has_switches;
        wants_events_by_them |= part.wants_events_by_them;
        files[part.file].events += part.events;
        found.merge(part.findings);
        scan.gaps.insert(scan.gaps.end(), part.gaps.begin(), part.gaps.end());
        scan.damage.merge(part.damage);
        names.add(part.names, found);
        for (const auto& kept : part.kept) schemas.add(kept, found);
        if (tally) tally->add(part.kinds, schemas);
        total.bytes += part.bytes;
        total.events += part.events;
        told.tell(options.progress, part.bytes, part.events);
      });
  if (met != nullptr && *met) {
    told = total;
    return std::nullopt;
  }
  names.finish();
  for (std::size_t i = 0; i < files.size(); ++i) {
    auto& scan = files[i].scan;
    check_processors(scan, findings[i]);
    find_missing_buffers(scan, findings[i]);
    mark_losses(scan);
    add_unplaced_losses(scan);
    for (auto& gap : scan.gaps) gap.file = static_cast<u16>(i);
    if (has_switches && wants_events_by_them)
      for (auto& entry : scan.buffers) entry.wanted = true;
  }
  Catalog catalog{{schemas.embedded(), schemas.event_source(), options.schemas},
                  std::move(names),
                  events,
                  {},
                  {},
                  {}};
  for (const auto& reader : readers) {
    catalog.schema_keys.insert(reader.schema_keys().begin(), reader.schema_keys().end());
    catalog.message_pdbs.insert(reader.message_pdbs().begin(), reader.message_pdbs().end());
  }
  while (catalog.schema_keys.size() > most_schema_keys)
    catalog.schema_keys.erase(std::prev(catalog.schema_keys.end()));
  if (!tally) return catalog;
  const auto visit = [&](u32 number, const std::function<void(const Event&)>& visitor) {
    visit_buffer(files, number, options.pointer_size, visitor);
  };
  catalog.kinds = tally->finish(catalog.schemas, visit);
  return catalog;
}

}  // namespace

Catalog read_catalog(std::span<ScannedFile> files, const CatalogOptions& options,
                     std::span<core::Findings> findings) {
  Told told;
  if (options.sieve != nullptr && options.names) {
    // Names cost more than all else, and nobody asks for them where no event is wanted.
    auto without_names = options;
    without_names.names = false;
    const std::vector<core::Findings> before{findings.begin(), findings.end()};
    std::vector<std::size_t> gaps;
    for (const auto& file : files) gaps.push_back(file.scan.gaps.size());
    std::atomic<bool> met = false;
    if (auto catalog = read_events(files, without_names, findings, &met, told))
      return std::move(*catalog);
    std::ranges::copy(before, findings.begin());
    forget_events(files, gaps);
  }
  return *read_events(files, options, findings, nullptr, told);
}

}  // namespace coldtrace::tracefile
