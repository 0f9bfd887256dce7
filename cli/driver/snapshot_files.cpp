#include "cli/driver/snapshot_files.hpp"

#include <optional>
#include <set>

#include <fmt/format.h>
#include <rapidjson/document.h>

#include "cli/command/report.hpp"
#include "cli/command/text_input.hpp"
#include "cli/ntfs/snapshot_reader.hpp"
#include "cli/ntfs/snapshot_values.hpp"
#include "cli/output/json_members.hpp"
#include "cli/output/output.hpp"
#include "coldtrace/registry/driver-check/listed_files.hpp"
#include "coldtrace/tracefile/packing/unpack.hpp"

namespace coldtrace::cli {
namespace {

// The volume that begins with the line.
registry::ListedVolume volume_of(const rapidjson::Value& json) {
  std::optional<u64> number, copy;
  if (const auto* partition = find_member(json, "partition", &rapidjson::Value::IsObject)) {
    number = number_member(*partition, "number");
    if (const auto* shadow = find_member(*partition, "shadow", &rapidjson::Value::IsObject))
      copy = number_member(*shadow, "number").value_or(0);
  }
  return {number, copy};
}

void add_row(const rapidjson::Value& json, const std::set<std::string>& asked,
             registry::ListedVolume& volume) {
  const auto* const directory = find_member(json, "directory", &rapidjson::Value::IsBool);
  volume.add(read_exact_path(json), directory ? std::optional{directory->GetBool()} : std::nullopt,
             asked);
}

}  // namespace

std::unique_ptr<registry::DriverFiles> open_snapshot_files(const std::string& path,
                                                           const registry::WindowsFolder& windows,
                                                           const std::set<std::string>& asked,
                                                           core::Findings& findings) {
  auto file = open_text_input(path);
  if (!file) throw Failure{fmt::format("{}: {}", path, to_message(file.error()))};
  const auto kind = core::recognize_file(**file);
  if (!kind) throw Failure{fmt::format("{}: {}", path, to_message(kind.error()))};
  if (tracefile::is_unpackable(*kind)) {
    const auto most = tracefile::default_unpacked_limit((*file)->size());
    auto unpacked = unpack_single(**file, *kind, most, "a snapshot");
    if (!unpacked) throw Failure{fmt::format("{}: {}", path, unpacked.error())};
    *file = std::move(*unpacked);
  }
  MistypedMembers mistyped;
  SnapshotReader reader{**file, mistyped};
  std::vector<registry::ListedVolume> volumes;
  bool lacks_paths = false;
  const bool read = reader.read_all(
      Int64::number,
      [&](SnapshotHeader&, const rapidjson::Value& json) {
        volumes.push_back(volume_of(json));
        return true;
      },
      [&](std::string_view type, const rapidjson::Value& json) {
        if (type != "file") return true;
        lacks_paths |= !json.HasMember("path");
        if (text_member(json, "state") == "live") add_row(json, asked, volumes.back());
        return true;
      });
  if (!read)
    throw Failure{
        fmt::format("{}: it is neither a folder nor NDJSON of 'coldtrace ntfs snapshot'", path)};
  if (const auto refusal = reader.refusal(); !refusal.empty())
    throw Failure{fmt::format("{}: {}", path, refusal)};
  reader.report(findings);
  mistyped.report(findings);
  using registry::ListExtent;
  const bool has_all = !lacks_paths && reader.names().has_all(ntfs::State::live);
  const auto extent = !reader.whole() ? ListExtent::damaged
                      : has_all       ? ListExtent::whole
                                      : ListExtent::selection;
  return registry::choose_listed_files(volumes, windows, extent, path, findings);
}

}  // namespace coldtrace::cli
