#include "ntfs/snapshot/row_findings.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "coldtrace/core/checked.hpp"
#include "coldtrace/core/printable.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/ntfs/stale_reason.hpp"

namespace coldtrace::ntfs {
namespace {

// Damage of a record that is in use is a loss; a deleted one may be half overwritten.
bool matters(const FileRow& row) {
  return row.facts.in_use;
}

// `of_name`: it is about the times of the name or of its entry too.
void add_time_finding(FileRow& row, core::Name code, std::string text, bool of_name = true) {
  row.findings.push_back({code, false, std::move(text), of_name});
}

bool has_fraction(core::FileTime time) {
  return time.ticks % 10'000'000 != 0;
}

void add_implausible_times(FileRow& row) {
  const auto look = [&](const Times& times, std::string_view set, bool of_name) {
    if (!is_plausible(times))
      add_time_finding(row, "time-implausible",
                       fmt::format("a time before 1970 or after 2199 in {}", set), of_name);
  };
  if (row.facts.information) look(row.facts.information->times, "$STANDARD_INFORMATION", false);
  if (row.file_name) look(row.file_name->times, "$FILE_NAME", true);
  if (row.index) look(*row.index, "the directory's entry", true);
}

// The same moment is kept three times: programs set it in $STANDARD_INFORMATION, NTFS copies it
// into the directory's entry, and $FILE_NAME has it as it was when the name was made.
void add_time_findings(FileRow& row, const RecordTable& records) {
  add_implausible_times(row);
  if (!row.facts.information) return;
  const auto& own = row.facts.information->times;
  const auto created = own.created;
  const auto comparable = [](core::FileTime time) { return time.ticks != 0 && is_plausible(time); };
  // Programs that make volumes give the system's own files times as they like.
  const bool system = row.facts.record < first_user_record;
  const auto named = row.file_name ? row.file_name->times.created : core::FileTime{0};
  if (created.ticks == 0 && comparable(named) && !system)
    add_time_finding(row, "time-not-set",
                     fmt::format("no creation time in $STANDARD_INFORMATION, but {} in $FILE_NAME",
                                 core::to_string(named)));
  if (!comparable(created)) return;
  if (row.file_name && named.ticks == 0 && !system)
    add_time_finding(
        row, "time-not-set",
        fmt::format("created {} by $STANDARD_INFORMATION, but no creation time in $FILE_NAME",
                    core::to_string(created)));
  if (comparable(named)) {
    const auto text = [&] {
      return fmt::format("created {} by $STANDARD_INFORMATION and {} by $FILE_NAME",
                         core::to_string(created), core::to_string(named));
    };
    if (created < named) add_time_finding(row, "time-set-back", text());
    if (named < created) add_time_finding(row, "time-set-forward", text());
  }
  if (comparable(named) && !has_fraction(created) && has_fraction(named)) {
    add_time_finding(row, "time-whole-seconds",
                     "the creation time has no fraction of a second in $STANDARD_INFORMATION, but "
                     "has one in $FILE_NAME");
  } else if (!system && has_whole_seconds(own) && records.has_rare_whole_seconds()) {
    add_time_finding(row, "time-whole-seconds",
                     "no time of $STANDARD_INFORMATION has a fraction of a second, unlike those of "
                     "nearly all other files of this volume",
                     false);
  }
  const bool indexed = row.file_name && row.index && (!system || *row.index != Times{});
  if (indexed && row.index->created != created)
    add_time_finding(
        row, "time-index-differs",
        fmt::format(
            "created {} by $STANDARD_INFORMATION and {} by the directory", core::to_string(created),
            row.index->created.ticks == 0 ? "at no time" : core::to_string(row.index->created)));
  if (records.summary(row.source->file.record).out_of_order)
    add_time_finding(row, "time-order",
                     fmt::format("created {}, before the records on both sides, which were first "
                                 "used at about the same time",
                                 core::to_string(created)),
                     false);
}

// Copying and unpacking keep the time of the data and make a new time of creation.
void add_copied_finding(FileRow& row) {
  if (!row.facts.information) return;
  const auto& times = row.facts.information->times;
  if (times.modified.ticks == 0 || !is_plausible(times) || times.modified >= times.created) return;
  add_time_finding(row, "time-copied",
                   fmt::format("modified {}, before it was created {}",
                               core::to_string(times.modified), core::to_string(times.created)),
                   false);
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

std::string describe_stale(const RecordTable& records, FileReference file) {
  const std::string entry =
      fmt::format("the directory names record {} with sequence {}", file.record, file.sequence);
  switch (find_stale_reason(records, file)) {
    case StaleReason::another_file:
      return fmt::format("{}; it holds another file now, with sequence {}", entry,
                         records.summary(file.record).sequence);
    case StaleReason::not_in_use:
      return fmt::format("{}; it is not in use, and has sequence {}", entry,
                         records.summary(file.record).sequence);
    case StaleReason::extension:
      return fmt::format("{}; it holds a part of another file", entry);
    case StaleReason::no_record:
      return fmt::format("{}; it was never used or cannot be read", entry);
    case StaleReason::outside_table:
      break;
  }
  return fmt::format("{}; $MFT has {}", entry, core::counted(records.size(), "record", "records"));
}

// Names the record's name in this directory, or else the same one in another, or its first one.
std::string describe_mismatch(const FileRow& row) {
  const auto& names = row.facts.names;
  const auto name = to_exact(row.name);
  if (names.empty())
    return fmt::format("\"{}\" by the directory, but the record has no name", name);
  const auto& parent = row.source->parent;
  const auto here = std::ranges::find_if(names, [&](const FileName& own) {
    return own.parent == parent && !is_short_half(row.facts, own);
  });
  const auto elsewhere = std::ranges::find_if(
      names, [&](const FileName& own) { return own.parent != parent && own.name == row.name; });
  if (here == names.end() && elsewhere != names.end())
    return fmt::format("\"{}\" in directory {}-{}, and by the record in directory {}-{}", name,
                       parent.record, parent.sequence, elsewhere->parent.record,
                       elsewhere->parent.sequence);
  const auto& own = here == names.end() ? names.front() : *here;
  return fmt::format("\"{}{}{}\" by the record, in directory {}-{}", name, between_names,
                     to_exact(own.name), own.parent.record, own.parent.sequence);
}

void add_name_findings(FileRow& row, const RecordTable& records) {
  const auto& source = *row.source;
  if (has_illegal_unit(row.name))
    row.findings.push_back(
        {"name-illegal", true,
         "the name contains a '/' or a null character, which NTFS does not allow", true});
  if (source.unlisted && !row.assembly.names_left_out)
    row.findings.push_back({"name-mismatch", true, describe_mismatch(row), true});
  // The root directory lies in itself, under a name that paths leave out.
  if (row.is_root() && row.file_name &&
      (row.file_name->parent != row.facts.reference() || !equals_ascii(row.file_name->name, ".")))
    row.findings.push_back({"name-mismatch", true,
                            fmt::format("the root directory has the name \"{}\" in directory {}-{}",
                                        to_exact(row.file_name->name), row.file_name->parent.record,
                                        row.file_name->parent.sequence),
                            true});
  if (source.directory_again)
    row.findings.push_back({"directory-loop", true,
                            "the directory was entered before and is not entered again", true});
  // Of a damaged record the size may be what is lost.
  if (source.stale_size && (row.facts.content_size || !row.facts.damaged)) {
    row.findings.push_back({"index-size-stale", false,
                            fmt::format("{} by the directory and {} by the record",
                                        core::counted(*source.stale_size, "byte", "bytes"),
                                        row.facts.content_size.value_or(0)),
                            true});
  }
  if (source.state == State::stale)
    row.findings.push_back({"entry-stale", true, describe_stale(records, source.file), true});
}

// The scan of $MFT has told and counted these, once a record.
bool is_told_by_scan(core::Name code) {
  return code == "record-bad" || code == "record-damaged" || code == "torn-fixup" ||
         code == "record-number";
}

// Whether the bytes of an extent are such that `is` says so of their offset and number.
template <class Is>
bool any_extent(const FileRow& row, const Volume& volume, Is&& is) {
  const auto& clusters = volume.mft().clusters();
  return std::ranges::any_of(row.extents, [&](const Extent& extent) {
    return extent.lcn && clusters.contains(*extent.lcn, extent.clusters) &&
           is(*clusters.offset_of(*extent.lcn), extent.clusters * clusters.cluster_size);
  });
}

u64 index_entry_size(StoredText name) {
  constexpr u64 without_name = 0x52;
  return without_name + 2 * name.units();
}

}  // namespace

void add_assembly_findings(FileRow& row) {
  const auto& assembly = row.assembly;
  const auto add = [&](core::Name code, std::string text) {
    row.findings.push_back({code, matters(row), std::move(text)});
  };
  if (assembly.list_damaged)
    add("attribute-list",
        "the attribute list is not usable; all records that name this file as their base are used");
  if (assembly.extension_missing)
    add("extension-missing",
        fmt::format("the attribute list names record {}, which is not this file's",
                    assembly.missing));
  if (assembly.list_left_out)
    add("attribute-list-limit",
        "the attribute list is not read, as the lists of all files would be larger than the image "
        "can hold; all records that name this file as their base are used");
  const auto describe = [](AttributeType type) {
    const auto name = to_string(type);
    return name.empty() ? std::string{"an attribute"} : fmt::format("a {}", name);
  };
  if (assembly.absent)
    add("attribute-list",
        fmt::format("the attribute list names {} in record {}, which does not have it",
                    describe(assembly.absent->type), assembly.absent->record));
  if (assembly.unlisted)
    add("attribute-list",
        fmt::format("record {} has {} that the attribute list does not name",
                    assembly.unlisted->record, describe(assembly.unlisted->type)));
  if (assembly.repeated)
    add("attribute-list",
        fmt::format("the attribute list names {} in record {} more than once",
                    describe(assembly.repeated->type), assembly.repeated->record));
  if (const auto& other = assembly.other_use)
    add("attribute-list",
        fmt::format("the attribute list names record {} with sequence {}, but it has {}",
                    other->listed.record, other->listed.sequence, other->sequence));
  if (assembly.lacking)
    add("attribute-list",
        fmt::format("the records of the file have no {}", assembly.lacking->view()));
  if (assembly.extension_unlisted)
    add("extension-unlisted",
        "a record names this file as its base, but the attribute list does not name that record");
  if (assembly.names_left_out)
    add("links-limit",
        fmt::format("the file has more names than the {} that are read", row.facts.names.size()));
}

void add_link_finding(FileRow& row) {
  const auto& facts = row.facts;
  const auto& assembly = row.assembly;
  const bool all_names = !facts.damaged && !assembly.list_damaged && !assembly.list_out_of_reach &&
                         !assembly.list_left_out && !assembly.extension_missing &&
                         !assembly.names_left_out;
  if (!facts.in_use || facts.is_extension() || !all_names) return;
  if (facts.link_count != facts.names.size())
    row.findings.push_back({"link-count", true,
                            fmt::format("the record counts {} names, but has {}", facts.link_count,
                                        facts.names.size())});
}

void add_extent_findings(FileRow& row, const ExtentFaults& faults, const Volume& volume) {
  const auto add = [&](core::Name code, std::string text) {
    row.findings.push_back({code, matters(row), std::move(text)});
  };
  if (faults.runs) add("run-list", fmt::format("a run list cannot be decoded: {}", *faults.runs));
  if (faults.gap) add("stream-gap", "clusters of a stream are not mapped, or are mapped twice");
  // An extracted $MFT does not know how many clusters there are.
  if (volume.mft().extracted()) return;
  if (faults.outside_volume)
    add("run-outside-volume", "clusters of a stream lie outside the volume");
  const u64 available = volume.image().available();
  if (volume.missing_bytes() > 0 &&
      any_extent(row, volume, [&](u64 offset, u64 size) { return offset + size > available; }))
    add("beyond-image", "clusters of a stream lie beyond the end of what the image has");
}

void add_unread_findings(FileRow& row, const Volume& volume) {
  if (volume.image().unreliable().empty()) return;
  const auto is_unreliable = [&](u64 offset, u64 size) {
    return core::is_unreliable(volume.image(), offset, size);
  };
  const auto is_unreliable_record = [&](u64 record) {
    const auto offset = volume.mft().offset_of(record);
    return offset && is_unreliable(*offset, volume.mft().record_size());
  };
  const auto holds = [&](const auto& part) { return is_unreliable_record(part.record); };
  const auto& facts = row.facts;
  const auto& entry = row.source->entry;
  const auto add = [&](std::string text, bool of_name = false) {
    row.findings.push_back({"unread-sectors", matters(row), std::move(text), of_name});
  };
  if (row.source->has_record && is_unreliable_record(facts.record))
    add("the record lies where the disk could not be read");
  else if (std::ranges::any_of(facts.attributes, holds) || std::ranges::any_of(facts.names, holds))
    add("an extension record lies where the disk could not be read");
  else if (any_extent(row, volume, is_unreliable))
    add("clusters of a stream lie where the disk could not be read");
  else if (entry && is_unreliable(entry->offset, index_entry_size(row.name)))
    add("the directory's entry lies where the disk could not be read", true);
}

void add_size_findings(FileRow& row, const StreamRow& stream, const AttributeFacts& first,
                       const Mft& mft) {
  const auto add = [&](core::Name code, std::string text) {
    row.findings.push_back(
        {code, matters(row), fmt::format("{} {}: {}", to_string(stream.type), stream.id, text)});
  };
  const auto extents = row.extents_of(stream);
  const auto hole = std::ranges::find_if(extents, [](const Extent& extent) { return !extent.lcn; });
  // $BadClus:$Bad is one hole over the whole volume, without a flag.
  const bool may_have_holes = first.sparse || first.compressed ||
                              row.facts.record == static_cast<u64>(SystemRecord::bad_clusters);
  if (hole != extents.end() && !may_have_holes)
    add("stream-gap",
        fmt::format("{} from VCN {} on {} a hole, but the stream is neither sparse nor compressed",
                    core::counted(hole->clusters, "cluster", "clusters"), hole->vcn,
                    hole->clusters == 1 ? "is" : "are"));
  // Only the start of a stream has its sizes.
  if (first.lowest_vcn != 0) return;
  // Encryption works on whole sectors of 512 bytes.
  const u64 padding = first.encrypted ? 511 : 0;
  if (first.valid_size > core::saturating_add(first.size, padding))
    add("stream-valid",
        fmt::format("{} of {}", core::counted(first.valid_size, "valid byte", "valid bytes"),
                    first.size));
  const u64 cluster_size = mft.clusters().cluster_size;
  u64 mapped = 0;
  u64 real = 0;
  for (const auto& extent : extents) {
    mapped = core::saturating_multiply(extent.end_vcn(), cluster_size);
    if (extent.lcn)
      real = core::saturating_add(real, core::saturating_multiply(extent.clusters, cluster_size));
  }
  // The size of a cluster is not known of a $MFT that was copied out.
  const bool counted = !mft.extracted();
  if (counted && first.size > mapped) {
    add("stream-gap", fmt::format("the last {} of {} {} not mapped", first.size - mapped,
                                  core::counted(first.size, "byte", "bytes"),
                                  first.size - mapped == 1 ? "is" : "are"));
  } else if (first.size > first.allocated_size) {
    add("stream-size",
        fmt::format("{}, but {} allocated", core::counted(first.size, "byte", "bytes"),
                    core::counted(first.allocated_size, "is", "are")));
  } else if (counted && first.allocated_size != mapped) {
    add("stream-allocated",
        fmt::format("{} allocated, but {} are mapped",
                    core::counted(first.allocated_size, "byte is", "bytes are"), mapped));
  } else if (counted && first.total_allocated && *first.total_allocated != real) {
    add("stream-allocated",
        fmt::format("{} on the disk, but clusters of {}",
                    core::counted(*first.total_allocated, "byte", "bytes"), real));
  }
}

void note_findings(const FileRow& row, core::Findings& findings) {
  const auto& entry = row.source->entry;
  const auto offset =
      row.record_offset || !entry ? row.record_offset : std::optional{entry->offset};
  for (const auto& finding : row.findings) {
    if (is_told_by_scan(finding.code)) continue;
    if (!row.source->first_of_record && !finding.of_name) continue;
    const auto text = core::distinct_text(finding.text);
    // Of one code some may be warnings and some not.
    if (finding.warning) {
      findings.warning(finding.code, offset, "record {}: {}", row.source->file.record, text);
    } else {
      findings.info(finding.code, offset, "record {}: {}", row.source->file.record, text);
    }
  }
}

void add_row_findings(FileRow& row, const RecordTable& records, bool all_time_rules) {
  const auto& facts = row.facts;
  const auto add = [&](core::Name code, std::string text) {
    row.findings.push_back({code, matters(row), std::move(text)});
  };
  if (row.source->has_record) {
    if (facts.torn) add("torn-fixup", "a fixup does not match: the record was only partly written");
    if (facts.bad) add("record-bad", "a disk check marked the record BAAD");
    if (facts.damaged)
      add("record-damaged",
          "an attribute of the record is impossible, out of place or missing; it is not used, nor "
          "is what follows it if its length is wrong");
    if (facts.misplaced) add("record-number", "the record says it has another number");
    if (facts.beyond_valid)
      row.findings.push_back(
          {"beyond-valid", false, "the record lies beyond the valid size of $MFT"});
  }
  add_time_findings(row, records);
  if (all_time_rules) add_copied_finding(row);
  add_name_findings(row, records);
}

}  // namespace coldtrace::ntfs
