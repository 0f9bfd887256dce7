#include "ntfs/record_table.hpp"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "core/parallel.hpp"
#include "ntfs/attribute_list.hpp"
#include "ntfs/file_record.hpp"

namespace coldtrace::ntfs {
namespace {

constexpr u64 block_size = 1 << 20;
constexpr u64 largest_count = 0xffff'ffff;
// Windows makes no more than 1024 links; every row of a file goes through all of its names.
constexpr std::size_t most_names = 4096;

// What a block of records has to say, kept apart until all blocks before it have spoken.
struct BlockReport {
  core::Findings findings;
  std::vector<Gap> gaps;
  bool empty() const { return findings.empty() && gaps.empty(); }
};

void note_record(const RecordFacts& facts, u64 offset,
                 const std::optional<core::ParseError>& damage, core::Findings& findings) {
  if (damage && facts.in_use) {
    findings.warning("record-damaged", damage->offset, "record {}: {}", facts.record, *damage);
  } else if (damage) {
    findings.info("deleted-record-damaged", damage->offset, "record {}: {}", facts.record, *damage);
  }
  if (facts.torn && facts.in_use)
    findings.warning("torn-fixup", offset, "record {} was not written as a whole", facts.record);
  if (facts.bad)
    findings.warning("record-bad", offset, "record {} was marked BAAD by a disk check",
                     facts.record);
  if (facts.misplaced)
    findings.warning("record-number", offset, "the record in the place of {} has another number",
                     facts.record);
}

}  // namespace

// What one thread keeps between blocks.
struct RecordTable::Worker {
  explicit Worker(Arena& arena) : writer{arena} {}
  Arena::Writer writer;
  std::vector<std::byte> buffer;
  RecordFacts facts;
  PackedWriter packed;
  std::vector<Extension> extensions;
  std::map<u64, BlockReport> reports;
};

RecordTable RecordTable::scan(const core::ImageSource& image, const Mft& mft, unsigned jobs,
                              core::Findings& findings, std::vector<Gap>& gaps) {
  RecordTable table;
  const u64 record_size = mft.record_size();
  const u64 count = std::min(mft.record_count(), largest_count);
  const u64 in_block = std::max<u64>(1, block_size / record_size);
  table.slots_.reserve(count);
  advise_huge_pages(table.slots_.data(), count * sizeof(Slot));
  table.slots_.resize(count);
  std::vector<std::unique_ptr<Worker>> workers;
  for (unsigned i = 0; i < std::max(jobs, 1U); ++i)
    workers.push_back(std::make_unique<Worker>(*table.arena_));

  const auto scan_record = [&](Worker& worker, u64 number, std::span<std::byte> bytes,
                               BlockReport& report) {
    if (is_unused_record(bytes)) return;
    const u64 offset = mft.offset_of(number).value_or(0);
    const auto damage = read_fixed_record(bytes, number, offset, worker.facts);
    if (!damage) {
      report.findings.warning("record-magic", damage.error());
      return;
    }
    if (number >= mft.valid_count()) {
      worker.facts.beyond_valid = true;
      worker.facts.in_use = false;
    }
    note_record(worker.facts, offset, *damage, report.findings);
    pack_record(worker.facts, worker.packed);
    auto& slot = table.slots_[number];
    slot = {worker.writer.add(worker.packed.view()), summarize(worker.facts)};
    if (slot.piece == Arena::none)
      report.findings.warning("record-limit", offset, "record {} is more than memory for records",
                              number);
    if (worker.facts.is_extension() && worker.facts.base.record < count)
      worker.extensions.push_back(
          {static_cast<u32>(worker.facts.base.record), static_cast<u32>(number)});
  };

  const auto scan_one_by_one = [&](Worker& worker, u64 first, u64 in_this, BlockReport& report) {
    for (u64 i = 0; i < in_this; ++i) {
      const auto bytes = std::span{worker.buffer}.first(record_size);
      const auto read = mft.read_raw(image, first + i, bytes);
      if (read) {
        scan_record(worker, first + i, bytes, report);
        continue;
      }
      const u64 offset = mft.offset_of(first + i).value_or(read.error().offset);
      report.findings.warning("record-unreadable", offset, "record {}: {}", first + i,
                              read.error());
      if (!report.gaps.empty() && report.gaps.back().offset + report.gaps.back().length == offset) {
        report.gaps.back().length += record_size;
        ++report.gaps.back().count;
      } else {
        report.gaps.push_back({offset, record_size, Gap::Lost::records, first + i, 1});
      }
    }
  };

  core::parallel_for(jobs, (count + in_block - 1) / in_block, [&](unsigned index, u64 block) {
    auto& worker = *workers[index];
    const u64 first = block * in_block;
    const u64 in_this = std::min(in_block, count - first);
    BlockReport report;
    worker.buffer.resize(in_block * record_size);
    const auto bytes = std::span{worker.buffer}.first(in_this * record_size);
    if (mft.read_raw(image, first, bytes)) {
      for (u64 i = 0; i < in_this; ++i)
        scan_record(worker, first + i, bytes.subspan(i * record_size, record_size), report);
    } else {
      scan_one_by_one(worker, first, in_this, report);
    }
    if (!report.empty()) worker.reports.emplace(block, std::move(report));
  });

  std::map<u64, BlockReport> reports;
  for (auto& worker : workers) {
    reports.merge(worker->reports);
    table.extensions_.insert(table.extensions_.end(), worker->extensions.begin(),
                             worker->extensions.end());
  }
  for (const auto& [block, report] : reports) {
    findings.merge(report.findings);
    gaps.insert(gaps.end(), report.gaps.begin(), report.gaps.end());
  }
  std::ranges::sort(table.extensions_);
  return table;
}

void RecordTable::unpack(u64 record, RecordFacts& facts) const {
  facts.clear();
  unpack_record(arena_->at(slots_[record].piece), record, false, facts);
}

void RecordTable::assemble_names(const core::ImageSource& image, const Mft& mft, u64 record,
                                 RecordFacts& facts) const {
  facts.clear();
  unpack_names(arena_->at(slots_[record].piece), record, facts);
  if (facts.has_list) assemble(image, mft, record, facts);
}

std::span<const RecordTable::Extension> RecordTable::extensions_of(u64 base) const {
  const auto first = std::ranges::lower_bound(extensions_, base, {}, &Extension::base);
  const auto last = std::ranges::upper_bound(extensions_, base, {}, &Extension::base);
  return {first, last};
}

bool belongs_to(const RecordFacts& extension, const RecordFacts& base) {
  if (extension.base.record != base.record || extension.in_use != base.in_use) return false;
  const auto sequence = extension.base.sequence;
  return sequence == base.sequence ||
         (!base.in_use && static_cast<u16>(sequence + 1) == base.sequence);
}

RecordTable::Assembly RecordTable::assemble(const core::ImageSource& image, const Mft& mft,
                                            u64 record, RecordFacts& facts) const {
  Assembly result;
  unpack(record, facts);
  if (!facts.has_list) return result;
  const auto* attribute = facts.find(AttributeType::attribute_list);
  const bool reachable = attribute && (attribute->resident || !mft.extracted());
  const auto list = read_attribute_list_value(image, mft.clusters(), facts);
  std::unordered_set<u64> listed;
  if (reachable && list) {
    AttributeListReader entries{*list, 0};
    while (const auto entry = entries.next())
      if (entry->record.record != record) listed.insert(entry->record.record);
    result.list_damaged = entries.damage().has_value();
  } else if (attribute && !reachable) {
    result.list_out_of_reach = true;
  } else {
    result.list_damaged = true;
  }
  // Without a sound list the extension records speak for themselves.
  const bool sound = !result.list_damaged && !result.list_out_of_reach;

  RecordFacts extension;
  for (const auto& candidate : extensions_of(record)) {
    unpack(candidate.record, extension);
    if (!belongs_to(extension, facts)) continue;
    if (facts.names.size() + extension.names.size() > most_names) {
      result.list_damaged = true;
      break;
    }
    if (sound && listed.erase(candidate.record) == 0) {
      result.extension_unlisted = true;
      continue;
    }
    unpack_record(arena_->at(slots_[candidate.record].piece), candidate.record, true, facts);
  }
  if (sound && !result.list_damaged && !listed.empty()) {
    result.extension_missing = true;
    result.missing = *std::ranges::min_element(listed);
  }
  return result;
}

u64 RecordTable::memory() const {
  return arena_->bytes() + slots_.capacity() * sizeof(Slot) +
         extensions_.capacity() * sizeof(Extension);
}

}  // namespace coldtrace::ntfs
