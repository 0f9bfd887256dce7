#include "coldtrace/tracefile/ctrace/ctrace.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "coldtrace/core/text.hpp"
#include "coldtrace/core/utf16.hpp"
#include "coldtrace/tracefile/fields/value_text.hpp"
#include "tracefile/ctrace/ctrace_links.hpp"
#include "tracefile/ctrace/ctrace_runs.hpp"

namespace coldtrace::tracefile {
namespace {

// Keeps the text of one field.
class TextPicker final : public FieldVisitor {
 public:
  explicit TextPicker(const std::string& name) : name_{name} {}

  void value(const FieldSchema& field, const Value& value) override {
    if (depth_ != 0 || field.name != name_) return;
    if (shape_of(value) == ValueShape::utf16_text)
      core::append_exact(text, value.bytes);
    else
      text += core::to_valid_utf8(core::to_chars(value.bytes));
  }
  void begin_array(const FieldSchema&) override { ++depth_; }
  void end_array() override { --depth_; }
  void begin_structure(const FieldSchema&) override { ++depth_; }
  void end_structure() override { --depth_; }

  std::string text;

 private:
  const std::string& name_;
  int depth_ = 0;
};

// Whether some event has an id in both.
bool share_ids(const Schema& one, const Schema& other) {
  return std::any_of(one.events.begin(), one.events.end(), [&](const EventDeclaration& event) {
    return std::any_of(other.events.begin(), other.events.end(),
                       [&](const EventDeclaration& known) { return known.id == event.id; });
  });
}

}  // namespace

// Counts kinds and keeps what names processes; both are known in full before the first line.
class Ctrace::Visitor final : public CtraceVisitor {
 public:
  Visitor(const Ctrace& trace, const CatalogOptions& options)
      : trace_{trace}, options_{options}, decoder_{trace.schemas()} {}

  struct Started {
    u64 stamp;
    u32 pid;
    u16 part;
    u16 processor;
    std::string name;
  };

  void begin_part(u16 part) { part_ = part; }

  void visit(u16 processor, const CtraceEntry& entry) override {
    if (options_.kinds) count(entry);
    if (!options_.names) return;
    const auto* known = trace_.schemas().find_event(entry.type, entry.version);
    if (known == nullptr || !known->started_process_offset || !known->image_name) return;
    const auto pid = core::load<u32>(entry.data, *known->started_process_offset);
    if (!pid || bytes_ > options_.largest_names) return;
    TextPicker picker{known->schema->fields[*known->image_name].name};
    decode_fields(*known->schema, entry.data, trace_.header().pointer_size, picker);
    if (picker.text.empty()) return;
    bytes_ += sizeof(Started) + picker.text.size();
    started.push_back({entry.stamp, *pid, part_, processor, std::move(picker.text)});
  }

  void add_to(KindCounts& counts) const { counter_.add_to(counts); }

  std::vector<Started> started;

 private:
  void count(const CtraceEntry& entry) {
    Event event{};
    trace_.describe(entry, event);
    const auto& kind = decoder_.kind_of(event);
    counter_.count(kind, decoder_.measure(event, kind).decoded);
  }

  const Ctrace& trace_;
  const CatalogOptions& options_;
  EventDecoder decoder_;
  KindCounter counter_;
  std::size_t bytes_ = 0;
  u16 part_ = 0;
};

Ctrace::Ctrace(std::vector<CtracePart> parts, const CatalogOptions& options)
    : parts_{std::move(parts)}, names_{options.largest_names} {}

core::Result<std::unique_ptr<Ctrace>> Ctrace::open(core::Borrowed<core::ImageSource> source,
                                                   const CatalogOptions& options,
                                                   core::Findings& findings) {
  std::vector<CtracePart> parts(1);
  parts[0].source = &source.get();
  parts[0].header = COLDTRACE_TRY(read_ctrace_header(source));
  auto trace = merge(std::move(parts), options, false, {&findings, 1}, findings);
  return std::move(*trace);  // one file contradicts no other
}

core::Expected<std::unique_ptr<Ctrace>, std::string> Ctrace::merge(
    std::vector<CtracePart> parts, const CatalogOptions& options, bool force,
    std::span<core::Findings> findings, core::Findings& of_all) {
  std::unique_ptr<Ctrace> trace{new Ctrace{std::move(parts), options}};
  auto& all = trace->parts_;
  // What the headers say stands before files are read that may be large.
  for (const auto& part : all) {
    if (part.header.pointer_size != all[0].header.pointer_size)
      return core::fail(fmt::format("{} and {} have pointers of {} and {} bytes", all[0].name,
                                    part.name, all[0].header.pointer_size,
                                    part.header.pointer_size));
    if (const auto why = find_run_mismatch(all[0].header, part.header); why && !force)
      return core::fail(fmt::format("{} and {} are not from one boot of one machine: {}",
                                    all[0].name, part.name, *why));
  }
  if (auto failure = trace->read_schemas(findings)) return core::fail(std::move(*failure));
  Visitor visitor{*trace, options};
  for (std::size_t i = 0; i < all.size(); ++i) {
    visitor.begin_part(static_cast<u16>(i));
    all[i].scan = scan_ctrace(*all[i].source, all[i].header, visitor, findings[i], all.size());
  }
  if (auto failure = number_runs(all, force, of_all)) return core::fail(std::move(*failure));
  if (all.size() == 1) {
    trace->chains_ = chains_of(all[0]);
  } else {
    auto chains = link_parts(all, findings);
    if (!chains) return core::fail(std::move(chains.error()));
    trace->chains_ = std::move(*chains);
  }
  trace->finish_clocks(findings);
  // Ids of processes mean nothing across machines.
  if (trace->is_one_run()) trace->add_names(visitor, of_all);
  KindCounts counts;
  visitor.add_to(counts);
  trace->kinds_ = counts.sorted();
  return trace;
}

// An event of one file is never shown by what another one declares in another way.
std::optional<std::string> Ctrace::read_schemas(std::span<core::Findings> findings) {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const auto& text = parts_[i].header.schema_text;
    if (i > 0 && text == parts_[0].header.schema_text) continue;
    auto schemas = parse_schemas(text);
    if (!schemas) {
      findings[i].warning("schema-text", CtraceHeader::size_on_disk,
                          "the schema text of the trace has an error at {}",
                          to_string(schemas.error()));
      if (i > 0 || parts_.size() > 1)
        for (const auto& part : parts_)
          if (part.header.schema_text != text)
            return fmt::format(
                "{} and {} declare their events differently: the schema text of {} "
                "has an error at {}",
                parts_[0].name, i > 0 ? parts_[i].name : part.name, parts_[i].name,
                to_string(schemas.error()));
      continue;
    }
    for (auto& schema : *schemas) {
      bool known = false;
      for (const auto& other : declarations_) {
        known = known || schema == other;
        if (schema != other &&
            (schema.guid == other.guid || schema.name == other.name || share_ids(schema, other)))
          return fmt::format(
              "{} and {} declare their events differently: {} of one is not {} of "
              "the other",
              parts_[0].name, parts_[i].name, schema.name, other.name);
      }
      if (!known) declarations_.push_back(std::move(schema));
    }
  }
  schemas_ = std::make_unique<CompiledSchemas>(declarations_, header().pointer_size);
  return std::nullopt;
}

void Ctrace::finish_clocks(std::span<core::Findings> findings) {
  std::set<std::pair<u16, u16>> numbers;
  for (auto& part : parts_)
    for (const auto& [processor, known] : part.scan.processors) {
      part.pairs += known.clock.pairs();
      numbers.emplace(part.run, processor);
    }
  for (const auto& [run, processor] : numbers) finish_clock(run, processor, findings);
  u64 resolution = 0;
  for (const auto& part : parts_)
    resolution = std::max<u64>(resolution, part.header.time_resolution);
  if (error_bound_) *error_bound_ += resolution;
}

void Ctrace::finish_clock(u16 run, u16 processor, std::span<core::Findings> findings) {
  std::vector<CtraceClock::Source> sources;
  const CtracePart* first = nullptr;
  core::Findings* told = nullptr;  // those of the file with the only pair, or of the first
  auto first_stamp = std::numeric_limits<u64>::max();
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    auto& part = parts_[i];
    const auto found = part.scan.processors.find(processor);
    if (part.run != run || found == part.scan.processors.end()) continue;
    sources.push_back({&found->second.clock, &findings[i]});
    first_stamp = std::min(first_stamp, found->second.first_stamp);
    if (first == nullptr) first = &part;
    if (told == nullptr || found->second.clock.pairs() > 0) told = &findings[i];
  }
  auto clock = sources.size() == 1
                   ? std::move(*sources[0].clock)
                   : CtraceClock::merge(sources, first->header.frequency, parts_.size());
  clock.finish(first->header.start_time, first_stamp);
  if (clock.pairs() == 0)
    told->warning("clock-no-pair", std::nullopt,
                  "processor {} has no calibration pair: its first event is assumed to be at "
                  "the start of the trace",
                  processor);
  else if (clock.pairs() == 1)
    told->warning("clock-one-pair", clock.first_offset(),
                  "processor {} has one calibration pair: its times rest on the nominal "
                  "frequency",
                  processor);
  error_bound_ = std::max(error_bound_, clock.error_bound(clock.fastest()));  // none is least
  clocks_.emplace(std::pair{run, processor}, std::move(clock));
}

void Ctrace::add_names(Visitor& visitor, core::Findings& findings) {
  struct Named {
    i64 time;
    const Visitor::Started* started;
  };
  std::vector<Named> named;
  for (const auto& started : visitor.started) {
    CtraceClock::Cursor cursor;
    const auto time =
        clock_of(parts_[started.part], started.processor).to_time(started.stamp, cursor);
    named.push_back({static_cast<i64>(time.ticks), &started});
  }
  std::stable_sort(named.begin(), named.end(),
                   [](const Named& a, const Named& b) { return a.time < b.time; });
  NameRecords records;
  for (const auto& one : named)
    records.add_started_process(one.started->pid, one.time, one.started->name);
  names_.add(records, findings);
  names_.finish();
}

core::FileTime Ctrace::start_time() const {
  core::FileTime start{};
  for (const auto& part : parts_) {
    const auto ticks = part.header.start_time.ticks;
    if (ticks != 0 && (start.ticks == 0 || ticks < start.ticks)) start.ticks = ticks;
  }
  return start;
}

namespace {

u64 sum(const std::vector<CtracePart>& parts, u64 CtraceScan::*count) {
  u64 all = 0;
  for (const auto& part : parts) all += part.scan.*count;
  return all;
}

}  // namespace

u64 Ctrace::events() const {
  return sum(parts_, &CtraceScan::events);
}

u64 Ctrace::lost() const {
  return sum(parts_, &CtraceScan::lost);
}

u64 Ctrace::missing() const {
  return sum(parts_, &CtraceScan::missing);
}

void Ctrace::describe(const CtraceEntry& entry, Event& event) const {
  event.event_class = EventClass::driver;
  event.pointer_size = header().pointer_size;
  event.id = entry.type;
  event.version = entry.version;
  event.payload = entry.data;
  event.provider = {};
  event.pid = event.tid = std::nullopt;
  const auto* known = schemas_->find_event(entry.type, entry.version);
  if (known == nullptr) {
    // Another version of it says that its data is never shown.
    if (schemas_->is_encrypted(entry.type)) event.payload = {};
    return;
  }
  event.provider = known->provider;
  if (known->process_offset) event.pid = core::load<u32>(entry.data, *known->process_offset);
  if (known->thread_offset) event.tid = core::load<u32>(entry.data, *known->thread_offset);
}

void Ctrace::to_event(u16 part, const CtraceBufferEntry& buffer, const CtraceEntry& entry,
                      const CtraceClock& clock, CtraceClock::Cursor& cursor, Event& event) const {
  describe(entry, event);
  event.timestamp = static_cast<i64>(entry.stamp);
  event.has_time = true;
  const auto time = clock.to_time(entry.stamp, cursor);
  event.file_time = time.ticks;
  event.approximate_time = time.approximate;
  event.cpu = parts_[part].cpu_of(buffer.processor);
  event.file = part;
  event.buffer_offset = buffer.offset;
  event.offset = entry.offset;
  event.size = static_cast<u32>(16 + entry.data.size());
}

}  // namespace coldtrace::tracefile
