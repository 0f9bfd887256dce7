#include "ntfs/row_findings.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace coldtrace::ntfs {
namespace {

constexpr u64 ticks_per_second = 10'000'000;

bool has_whole_seconds(core::FileTime time) {
  return time.ticks != 0 && time.ticks % ticks_per_second == 0;
}

// Damage of a record that is in use is a loss; a deleted one may be half overwritten.
bool matters(const FileRow& row) {
  return row.facts.in_use;
}

void add_time_findings(FileRow& row) {
  if (!row.facts.information || !row.file_name) return;
  const auto& own = row.facts.information->times;
  const auto& named = row.file_name->times;
  // The name's creation time is set when the name is made and not by programs.
  if (own.created.ticks != 0 && own.created < named.created)
    row.findings.push_back(
        {"time-set-back", false,
         fmt::format("created {} by $STANDARD_INFORMATION and {} by $FILE_NAME",
                     core::to_string(own.created), core::to_string(named.created))});
  if (has_whole_seconds(own.created) && has_whole_seconds(own.modified) &&
      !has_whole_seconds(named.created) && named.created.ticks != 0)
    row.findings.push_back({"time-whole-seconds", false,
                            "the times of $STANDARD_INFORMATION have no fractions of a second, "
                            "those of $FILE_NAME do"});
}

// Zeros and slashes, which NTFS does not allow in names.
bool has_illegal_unit(StoredText name) {
  if (name.narrow)
    return !name.empty() && (std::memchr(name.bytes.data(), 0, name.bytes.size()) != nullptr ||
                             std::memchr(name.bytes.data(), '/', name.bytes.size()) != nullptr);
  for (std::size_t i = 0; i < name.units(); ++i)
    if (name.unit(i) == 0 || name.unit(i) == '/') return true;
  return false;
}

void add_name_findings(FileRow& row) {
  const auto& source = *row.source;
  if (has_illegal_unit(row.name))
    row.findings.push_back(
        {"name-illegal", true, "the name holds a '/' or a zero, which NTFS does not allow"});
  if (source.unlisted)
    row.findings.push_back(
        {"name-mismatch", true, "the directory lists this name and the record does not have it"});
  if (source.directory_again)
    row.findings.push_back(
        {"directory-loop", true, "the directory was entered before and is not entered again"});
  if (source.stale_size) {
    const auto* content = row.content();
    row.findings.push_back({"index-size-stale", false,
                            fmt::format("{} bytes by the directory and {} by the record",
                                        *source.stale_size, content ? content->size : 0)});
  }
  if (source.state == State::stale)
    row.findings.push_back(
        {"entry-stale", true,
         fmt::format("the directory names record {} with sequence {}, which is {}",
                     source.file.record, source.file.sequence,
                     source.has_record ? "another file's now or not in use" : "not there")});
}

}  // namespace

void add_assembly_findings(FileRow& row, const RecordTable::Assembly& assembly) {
  const auto add = [&](core::Name code, std::string text) {
    row.findings.push_back({code, matters(row), std::move(text)});
  };
  if (assembly.list_damaged)
    add("attribute-list",
        "the attribute list is not usable; all records that name this file as "
        "their base are taken");
  if (assembly.extension_missing)
    add("extension-missing",
        fmt::format("the attribute list names record {}, which is not this file's",
                    assembly.missing));
  if (assembly.extension_unlisted)
    add("extension-unlisted",
        "a record names this file as its base and the attribute list does not know it");
}

void add_extent_findings(FileRow& row, const ExtentFaults& faults, const Volume& volume) {
  const auto add = [&](core::Name code, std::string text) {
    row.findings.push_back({code, matters(row), std::move(text)});
  };
  if (faults.runs) add("run-list", fmt::format("a run list cannot be decoded: {}", *faults.runs));
  if (faults.gap) add("stream-gap", "clusters of a stream are mapped nowhere, or twice");
  // An extracted $MFT does not know how many clusters there are.
  if (volume.mft().extracted()) return;
  if (faults.outside_volume)
    add("run-outside-volume", "clusters of a stream lie outside the volume");
  if (volume.missing_bytes() == 0) return;
  const auto& clusters = volume.mft().clusters();
  const u64 size = volume.image().size();
  const bool beyond = std::ranges::any_of(row.extents, [&](const Extent& extent) {
    if (!extent.lcn || !clusters.contains(*extent.lcn, extent.clusters)) return false;
    return *clusters.offset_of(*extent.lcn) + extent.clusters * clusters.cluster_size > size;
  });
  if (beyond) add("beyond-image", "clusters of a stream lie behind the end of the image");
}

void add_row_findings(FileRow& row) {
  const auto& facts = row.facts;
  const auto add = [&](core::Name code, std::string text) {
    row.findings.push_back({code, matters(row), std::move(text)});
  };
  if (row.source->has_record) {
    if (facts.torn) add("torn-fixup", "a fixup does not match: the record was not written whole");
    if (facts.bad) add("record-bad", "a disk check marked the record BAAD");
    if (facts.damaged)
      add("record-damaged", "an attribute of the record is impossible; what follows it is lost");
    if (facts.misplaced) add("record-number", "the record says it has another number");
    if (facts.beyond_valid)
      row.findings.push_back(
          {"beyond-valid", false, "the record is in a part of $MFT that does not count"});
  }
  add_time_findings(row);
  add_name_findings(row);
}

}  // namespace coldtrace::ntfs
