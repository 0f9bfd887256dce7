#include "cli/ntfs/locate/located_lines.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <rapidjson/document.h>

#include "cli/ntfs/snapshot_reader.hpp"
#include "cli/ntfs/snapshot_values.hpp"
#include "cli/output/json_members.hpp"
#include "coldtrace/ntfs/locate/row_places.hpp"

namespace coldtrace::cli {
namespace {

using rapidjson::Value;

// Rows without these do not say whose a byte is.
constexpr std::array needed = {"path", "record", "sequence", "state", "streams", "other_streams"};

ntfs::AttributeType type_of(const Value& stream) {
  const auto name = text_member(stream, "type");
  for (u32 type = 0x10; type <= 0x100; type += 0x10)
    if (to_string(ntfs::AttributeType{type}) == name) return ntfs::AttributeType{type};
  return ntfs::AttributeType::end;
}

ntfs::RowStream read_stream(const Value& json, const char* member, MistypedMembers& mistyped) {
  if (!is_snapshot_stream(json)) {
    mistyped.add(member);
    return {};
  }
  ntfs::RowStream stream{.name = read_exact_name(json),
                         .compressed = find_member(json, "compressed", &Value::IsTrue) != nullptr,
                         .size = number_member(json, "size"),
                         .valid = number_member(json, "valid"),
                         .resident_offset = number_member(json, "resident_offset"),
                         .extents = {}};
  if (json.HasMember("type")) stream.type = type_of(json);
  if (const auto* extents = mistyped.find(json, "extents", &Value::IsArray))
    for (const auto& extent : extents->GetArray())
      stream.extents.push_back(read_snapshot_extent(extent, member, mistyped));
  return stream;
}

// Nothing of an entry of a directory's index, which is not a file's own.
std::optional<ntfs::PlaceOwner> read_owner(const Value& json, MistypedMembers& mistyped) {
  const auto [file, state] = read_snapshot_file(json, mistyped);
  if (!file || !state || state == ntfs::State::stale || state == ntfs::State::slack)
    return std::nullopt;
  ntfs::PlaceOwner owner{.file = *file, .state = *state};
  owner.directory = find_member(json, "directory", &Value::IsTrue) != nullptr;
  owner.path = read_exact_path(json);
  owner.system = file->record < ntfs::first_user_record || owner.path.starts_with("/$Extend/");
  owner.links = static_cast<u32>(std::min<u64>(number_member(json, "links").value_or(0), ~u32{0}));
  return owner;
}

void read_row(const Value& json, ntfs::RowPlaces& places, MistypedMembers& mistyped) {
  const auto owner = read_owner(json, mistyped);
  if (!owner) return;
  std::vector<ntfs::RowStream> streams;
  for (const auto* member : {"streams", "other_streams"})
    if (const auto* list = mistyped.find(json, member, &Value::IsArray))
      for (const auto& stream : list->GetArray())
        streams.push_back(read_stream(stream, member, mistyped));
  places.add(*owner, streams);
}

}  // namespace

std::string LocatedLines::open(std::optional<u32> partition, Int64 int64,
                               core::Findings& findings) {
  SnapshotReader reader{file_, mistyped_};
  std::size_t count = 0;
  std::string lacking;
  bool is_mft = false, is_placed = true;
  const bool read = reader.read_all(
      int64,
      [&](SnapshotHeader& header, const Value&) {
        const bool chosen = !partition || header.partition.number == *partition;
        is_mft |= chosen && header.of_mft_alone;
        is_placed &= !chosen || header.clusters.cluster_size > 0;
        if (chosen && header.clusters.cluster_size > 0) {
          headers_.push_back(std::move(header));
          numbers_.push_back(count);
        }
        ++count;
        return true;
      },
      [&](std::string_view type, const Value& json) {
        if (type == "file" && lacking.empty())
          for (const auto* const member : needed)
            if (!json.HasMember(member)) lacking += fmt::format(" {}", member);
        return true;
      });
  if (!read) return reader.why_none();
  if (auto refusal = reader.refusal(); !refusal.empty()) return refusal;
  if (headers_.empty() && is_mft)
    return "it is a snapshot of a $MFT alone, which does not say where on a disk anything is";
  if (headers_.empty() && !is_placed)
    return "the snapshot does not say where on the disk the clusters of its volume are";
  if (headers_.empty())
    return fmt::format("the snapshot has no volume of partition {}", partition.value_or(0));
  if (!lacking.empty())
    return fmt::format(
        "rows lack members that say where files are stored:{}. Take the snapshot without --fields",
        lacking);
  if (reader.whole()) {
    reader.names().report("are not searched", findings);
    left_out_ = reader.names().left_out();
  }
  reader.report(findings);
  return {};
}

LocatedDisk LocatedLines::disk() const {
  return {headers_.front().disk_size, headers_.front().sector_size, {}, true};
}

std::vector<std::vector<LocatedVolume>> LocatedLines::views(std::string_view path) {
  std::map<u32, std::vector<LocatedVolume>> by_copy;  // the volume as it is now comes last
  for (std::size_t i = 0; i < headers_.size(); ++i) {
    const auto& header = headers_[i];
    by_copy[header.shadow() - 1].push_back(
        {{header.clusters, header.partition.offset, header.partition.size},
         header.name(path),
         [this, i](std::span<const u64> offsets) { return find(i, offsets); }});
  }
  std::vector<std::vector<LocatedVolume>> views;
  for (auto& [number, volumes] : by_copy) views.push_back(std::move(volumes));
  return views;
}

std::vector<ntfs::Place> LocatedLines::find(std::size_t volume, std::span<const u64> offsets) {
  const auto& header = headers_[volume];
  ntfs::RowPlaces places{header.clusters, header.record_size, header.mft, offsets};
  visit_snapshot_rows(file_, mistyped_, [&](std::size_t number, const Value& json) {
    if (number == numbers_[volume]) read_row(json, places, mistyped_);
  });
  return places.take();
}

}  // namespace coldtrace::cli
