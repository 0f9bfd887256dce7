#include "coldtrace/ntfs/record_table.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "coldtrace/core/file.hpp"
#include "coldtrace/core/parallel.hpp"
#include "coldtrace/ntfs/structures/file_record.hpp"
#include "ntfs/snapshot/shared_progress.hpp"

namespace coldtrace::ntfs {
namespace {

// Few enough for a second thread to join in early, and for their bytes to stay in a cache
// (bench/compare-python: two threads read $MFT and indexes in 26 ms instead of 31).
constexpr u64 block_size = 256 << 10;
constexpr u64 largest_count = 0xffff'ffff;

// Records that a disk check marked: how many, and the first of them.
struct BadRecords {
  static constexpr std::size_t most_named = 16;
  struct Named {
    u64 number;
    u64 offset;
    std::string state;
  };

  void add(u64 number, u64 offset, std::string state) {
    ++count;
    if (named.size() < most_named) named.push_back({number, offset, std::move(state)});
  }
  void merge(const BadRecords& later) {
    count += later.count;
    const auto room = std::min(most_named - named.size(), later.named.size());
    named.insert(named.end(), later.named.begin(),
                 later.named.begin() + static_cast<std::ptrdiff_t>(room));
  }
  void report(core::Findings& findings) const {
    if (count == 0) return;
    std::string list;
    for (const auto& record : named)
      list += fmt::format("{}{} ({})", list.empty() ? "" : ", ", record.number, record.state);
    if (count > named.size()) list += fmt::format(" and {} more", count - named.size());
    for (u64 i = 0; i < count; ++i)
      findings.warning("record-bad", named.front().offset, "marked BAAD by a disk check: {} {}",
                       count == 1 ? "record" : "records", list);
  }

  u64 count = 0;
  std::vector<Named> named;
};

// What a block of records has to say, kept apart until all blocks before it have spoken.
struct BlockReport {
  core::Findings findings;
  std::vector<Gap> gaps;
  BadRecords bad;
  bool empty() const { return findings.empty() && gaps.empty() && bad.count == 0; }
};

void note_record(const RecordFacts& facts, u64 offset,
                 const std::optional<core::ParseError>& damage, core::Findings& findings) {
  if (damage && facts.in_use) {
    findings.warning("record-damaged", damage->offset, "record {}: {}", facts.record, *damage);
  } else if (damage) {
    findings.info("deleted-record-damaged", damage->offset, "record {}: {}", facts.record, *damage);
  }
  if (facts.remains_at)
    findings.info("attribute-remains", offset + *facts.remains_at,
                  "record {}: after its attributes lies one that it no longer uses", facts.record);
  if (facts.torn && facts.in_use) {
    findings.warning("torn-fixup", offset, "record {} was only partly written", facts.record);
  } else if (facts.torn) {
    findings.info("torn-fixup", offset, "deleted record {} was only partly written", facts.record);
  }
  if (facts.misplaced)
    findings.warning("record-number", offset, "the record in the place of {} has another number",
                     facts.record);
}

// Records are first used in the order of their numbers. So one that is between two others of the
// same time, and was created long before both, has a time that somebody set.
class CreationOrder {
 public:
  // Takes the records in order; true when the one before `facts` is out of order.
  bool add(const RecordFacts& facts) {
    constexpr u64 minute = 600'000'000;
    const bool first_use = facts.in_use && facts.sequence == 1 && !facts.is_extension() &&
                           facts.record >= first_user_record && facts.information &&
                           facts.information->times.created.ticks != 0;
    const u64 created = first_use ? facts.information->times.created.ticks : 0;
    const bool follows = facts.record == last_ + 1;
    const u64 before = follows ? before_ : 0;
    const u64 between = follows ? between_ : 0;
    last_ = facts.record;
    before_ = between;
    between_ = created;
    if (before == 0 || between == 0 || created == 0) return false;
    const auto [early, late] = std::minmax(before, created);
    return late - early <= minute && between < early && early - between > minute;
  }

 private:
  u64 last_ = 0;  // record
  u64 before_ = 0;
  u64 between_ = 0;
};

}  // namespace

// What one thread keeps between blocks.
struct RecordTable::Worker {
  explicit Worker(Arena& arena) : writer{arena} {}
  Arena::Writer writer;
  core::ReadBuffer buffer;
  RecordFacts facts;
  PackedWriter packed;
  std::vector<Claim> claims;
  std::vector<u32> lists;  // records with an attribute list
  CreationOrder order;
  u64 secured = 0;
  u64 timed = 0;
  u64 whole_seconds = 0;
  std::map<u64, BlockReport> reports;
};

// Fills a table, block by block.
class RecordTable::Scan {
 public:
  Scan(RecordTable& table, const core::ImageSource& image, const Mft& mft, unsigned jobs,
       ClusterMarks* marks, core::Progress* progress)
      : table_{table},
        image_{image},
        mft_{mft},
        marks_{mft.extracted() ? nullptr : marks},
        done_{progress} {
    table.slots_.reserve(count_);
    advise_huge_pages(table.slots_.data(), count_ * sizeof(Slot));
    table.slots_.resize(count_);
    for (unsigned i = 0; i < std::max(jobs, 1U); ++i)
      workers_.push_back(std::make_unique<Worker>(*table.arena_));
  }

  u64 blocks() const { return (count_ + in_block_ - 1) / in_block_; }

  void read_block(unsigned index, u64 block) {
    auto& worker = *workers_[index];
    const u64 first = block * in_block_;
    const u64 in_this = std::min(in_block_, count_ - first);
    BlockReport report;
    worker.order = {};
    const u64 size = in_this * record_size_;  // the last block is smaller, often the only one
    const auto bytes = worker.buffer.first(size);
    if (is_hole(first, bytes.size())) {
      done_.add(bytes.size(), in_this);
      return;
    }
    if (mft_.read_raw(image_, first, bytes)) {
      for (u64 i = 0; i < in_this; ++i)
        add(worker, first + i, bytes.subspan(i * record_size_, record_size_), report);
    } else {
      read_one_by_one(worker, first, in_this, report);
    }
    if (!report.empty()) worker.reports.emplace(block, std::move(report));
    done_.add(bytes.size(), in_this);
  }

  // A block knows of no record of another one: those on both sides of an edge are asked again.
  void compare_at_edges() {
    for (u64 edge = in_block_; edge < count_; edge += in_block_) {
      CreationOrder order;
      RecordFacts facts;
      for (u64 record = edge - std::min<u64>(edge, 2); record < std::min(edge + 2, count_);
           ++record) {
        if (!table_.has(record)) continue;
        facts.clear();
        unpack_names(table_.arena_->at(table_.slots_[record].piece), record, facts);
        if (order.add(facts)) table_.slots_[record - 1].summary.out_of_order = true;
      }
    }
  }

  void join(core::Findings& findings, std::vector<Gap>& gaps) {
    std::map<u64, BlockReport> reports;
    std::vector<Claim> claims;
    std::vector<u32> lists;
    for (auto& worker : workers_) {
      reports.merge(worker->reports);
      lists.insert(lists.end(), worker->lists.begin(), worker->lists.end());
      claims.insert(claims.end(), worker->claims.begin(), worker->claims.end());
      table_.secured_ += worker->secured;
      table_.timed_ += worker->timed;
      table_.whole_seconds_ += worker->whole_seconds;
    }
    std::ranges::sort(claims);
    for (const auto& claim : claims) {
      table_.claimed_bases_.push_back(claim.base);
      table_.claims_.push_back(claim.record);
    }
    std::ranges::sort(lists);
    table_.read_lists(image_, mft_, lists);
    BadRecords bad;
    for (const auto& [block, report] : reports) {
      findings.merge(report.findings);
      gaps.insert(gaps.end(), report.gaps.begin(), report.gaps.end());
      bad.merge(report.bad);
    }
    bad.report(findings);
  }

 private:
  // Of a copied $MFT, whose records lie one behind the other.
  bool is_hole(u64 first, u64 size) const {
    if (!mft_.extracted()) return false;
    const u64 at = first * record_size_;
    return image_.next_data(at) >= at + size;
  }

  void read_one_by_one(Worker& worker, u64 first, u64 in_this, BlockReport& report) {
    for (u64 i = 0; i < in_this; ++i) {
      const auto bytes = worker.buffer.first(record_size_);
      const auto read = mft_.read_raw(image_, first + i, bytes);
      if (read) {
        add(worker, first + i, bytes, report);
        continue;
      }
      const auto offset = mft_.offset_of(first + i);
      report.findings.warning("record-unreadable", offset, "record {}: {}", first + i,
                              read.error());
      lose(first + i, offset, report);
    }
  }

  void lose(u64 number, std::optional<u64> offset, BlockReport& report) const {
    append_gap(report.gaps, {offset, record_size_, Gap::Lost::records, number, 1});
  }

  void add(Worker& worker, u64 number, std::span<std::byte> bytes, BlockReport& report) {
    if (is_unused(number, bytes)) return;
    const auto place = mft_.offset_of(number);
    const u64 offset = place.value_or(0);
    const auto damage = read_fixed_record(bytes, number, offset, worker.facts);
    if (!damage) {
      if (number < mft_.valid_count()) lose(number, place, report);
      // What has a magic has a place.
      if (!place)
        return report.findings.warning("record-magic", std::nullopt,
                                       "record {} starts in a hole of $MFT: it has no magic",
                                       number);
      if (is_marked_bad(bytes))
        report.bad.add(number, offset, core::to_string(damage.error()));
      else
        report.findings.warning("record-magic", offset, "record {}: {}", number, damage.error());
      return;
    }
    if (number >= mft_.valid_count()) {
      worker.facts.beyond_valid = true;
      worker.facts.in_use = false;
    }
    note_record(worker.facts, offset, *damage, report.findings);
    if (worker.facts.bad) report.bad.add(number, offset, "read all the same");
    if (worker.facts.in_use) count_in_use(worker);
    keep(worker, number, offset, report);
  }

  // Zeros: never used, or what stands for bytes that could not be read. Behind the valid records
  // anything may be.
  bool is_unused(u64 number, core::ByteView bytes) const {
    if (!is_unused_record(bytes)) return false;
    if (number >= mft_.valid_count()) return true;
    const auto offset = mft_.offset_of(number);
    return number != root_record && core::is_zero(bytes) &&
           !(offset && core::is_unreliable(image_, *offset, record_size_));
  }

  void count_in_use(Worker& worker) {
    if (marks_ != nullptr) marks_->mark(worker.facts);
    const auto& own = worker.facts.information;
    if (own && own->security_id.value_or(0) != 0) ++worker.secured;
    if (own && own->times.created.ticks != 0) {
      ++worker.timed;
      if (has_whole_seconds(own->times)) ++worker.whole_seconds;
    }
  }

  void keep(Worker& worker, u64 number, u64 offset, BlockReport& report) {
    pack_record(worker.facts, worker.packed);
    auto& slot = table_.slots_[number];
    slot = {worker.writer.add(worker.packed.view()), summarize(worker.facts)};
    if (worker.order.add(worker.facts)) table_.slots_[number - 1].summary.out_of_order = true;
    if (slot.piece == Arena::none) {
      report.findings.warning("record-limit", offset, "there is not enough memory for record {}",
                              number);
      lose(number, offset, report);
    }
    if (worker.facts.has_list && slot.piece != Arena::none)
      worker.lists.push_back(static_cast<u32>(number));
    if (worker.facts.is_extension() && worker.facts.base.record < count_)
      worker.claims.push_back(
          {static_cast<u32>(worker.facts.base.record), static_cast<u32>(number)});
  }

  RecordTable& table_;
  const core::ImageSource& image_;
  const Mft& mft_;
  ClusterMarks* marks_;
  SharedProgress done_;
  const u64 record_size_ = mft_.record_size();
  const u64 count_ = std::min(mft_.stored_count(), largest_count);
  const u64 in_block_ = std::max<u64>(1, block_size / record_size_);
  std::vector<std::unique_ptr<Worker>> workers_;  // one a thread
};

RecordTable RecordTable::scan(const core::ImageSource& image, const Mft& mft, unsigned jobs,
                              core::Findings& findings, std::vector<Gap>& gaps, ClusterMarks* marks,
                              u32 most_chunks, core::Progress* progress) {
  RecordTable table{most_chunks};
  Scan scan{table, image, mft, jobs, marks, progress};
  core::parallel_for(jobs, scan.blocks(),
                     [&](unsigned index, u64 block) { scan.read_block(index, block); });
  scan.compare_at_edges();
  scan.join(findings, gaps);
  if (mft.unmapped()) gaps.push_back(*mft.unmapped());
  return table;
}

void RecordTable::unpack(u64 record, RecordFacts& facts) const {
  facts.clear();
  unpack_record(arena_->at(slots_[record].piece), record, facts);
}

void RecordTable::assemble_names(u64 record, RecordFacts& facts) const {
  facts.clear();
  unpack_names(arena_->at(slots_[record].piece), record, facts);
  if (facts.has_list) assemble(record, facts);
}

std::span<const u32> RecordTable::claims_of(u64 base) const {
  const auto [first, last] = std::equal_range(claimed_bases_.begin(), claimed_bases_.end(), base);
  return std::span{claims_}.subspan(static_cast<std::size_t>(first - claimed_bases_.begin()),
                                    static_cast<std::size_t>(last - first));
}

// Each list once, in the order of the records. Lists do not share clusters, so all of them are
// less than the image.
void RecordTable::read_lists(const core::ImageSource& image, const Mft& mft,
                             std::span<const u32> records) {
  u64 bytes_left = image.size();
  RecordFacts facts;
  const auto load = [&](u64 number, RecordFacts& extension) {
    unpack(number, extension);
    return true;
  };
  for (const u32 record : records) {
    unpack(record, facts);
    const u64 size = attribute_list_size(facts);
    const auto& assembly = assemblies_[record] =
        assemble_file(image, mft, claims_of(record), load, facts, bytes_left);
    if (!assembly.list_left_out && !assembly.list_out_of_reach)
      bytes_left -= std::min(bytes_left, size);
  }
}

Assembly RecordTable::assemble(u64 record, RecordFacts& facts) const {
  unpack(record, facts);
  if (!facts.has_list) return {};
  // read_lists() was given every record that has a list.
  auto assembly = assemblies_.at(record);
  RecordFacts extension;
  for (const u64 number : assembly.joined) {
    unpack(number, extension);
    join(extension, facts, assembly);
  }
  return assembly;
}

u64 RecordTable::memory() const {
  return arena_->bytes() + slots_.capacity() * sizeof(Slot) +
         (claims_.capacity() + claimed_bases_.capacity()) * sizeof(u32) +
         assemblies_.size() * sizeof(decltype(assemblies_)::value_type);
}

}  // namespace coldtrace::ntfs
