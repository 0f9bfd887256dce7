#include "cli/driver/snapshot_files.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <rapidjson/document.h>

#include "cli/command/report.hpp"
#include "cli/command/text_input.hpp"
#include "cli/ntfs/snapshot_lines.hpp"
#include "cli/output/json_members.hpp"
#include "cli/output/output.hpp"
#include "coldtrace/registry/hive/key.hpp"
#include "coldtrace/tracefile/packing/unpack.hpp"

namespace coldtrace::cli {
namespace {

using registry::WindowsPath;

// Paths of a volume in lower case, with '\', that are asked for; and its folders with Windows in
// them, as they are called.
struct Volume {
  std::set<std::string> files, folders;  // what is not known to be one of them is in both
  std::vector<std::string> windows;
};

class SnapshotFiles final : public registry::DriverFiles {
 public:
  SnapshotFiles(Volume volume, std::string windows, bool is_whole)
      : files_{std::move(volume.files)},
        folders_{std::move(volume.folders)},
        name_{std::move(windows)},
        below_{registry::lower(name_) + '\\'},
        is_whole_{is_whole} {}

  std::string windows_folder() const override { return name_; }

  std::optional<bool> has(const WindowsPath& path, registry::FileKind kind) const override {
    if (!path.is_known()) return std::nullopt;
    const bool below = path.place == WindowsPath::Place::windows;
    const auto own = below ? below_ + path.path : path.path;
    const bool folder = kind == registry::FileKind::folder;
    if ((folder ? folders_ : files_).contains(own)) return true;
    if (is_whole_ && (folder ? files_ : folders_).contains(own)) return false;
    if (!is_whole_) return std::nullopt;
    return not_found(path);
  }

 private:
  std::set<std::string> files_, folders_;
  std::string name_, below_;
  bool is_whole_;
};

class SnapshotReader {
 public:
  explicit SnapshotReader(const std::set<std::string>& asked) : asked_{asked} {}

  // Names that the volumes have are not in it, or lack what says which they are.
  bool is_selection() const { return lacks_members_ || (stated_ && *stated_ != live_); }
  std::vector<Volume>& volumes() { return volumes_; }
  const SnapshotDamage& damage() const { return damage_; }

  // False where the line is none of a snapshot.
  bool read(const rapidjson::Value& json) {
    if (!json.IsObject()) return false;
    if (is_snapshot_header(json)) volumes_.emplace_back();
    if (volumes_.empty()) return false;
    const auto type = text_member(json, "type");
    if (type == "file") {
      lacks_members_ |= !json.HasMember("path") || !json.HasMember("state");
      if (text_member(json, "state") == "live") read_file(json);
    }
    if (type == "summary") {
      damage_.read(json);
      if (const auto* counts = find_member(json, "counts", &rapidjson::Value::IsObject))
        stated_ = number_member(*counts, "live");
    }
    return true;
  }

 private:
  void read_file(const rapidjson::Value& json) {
    ++live_;
    auto path = text_member(json, "path");
    std::replace(path.begin(), path.end(), '/', '\\');
    if (path.starts_with('\\')) path.erase(0, 1);
    auto lower = registry::lower(path);
    const auto name = lower.substr(lower.rfind('\\') + 1);
    auto& volume = volumes_.back();
    const auto slash = lower.find('\\');
    if (name == "system32" && slash != lower.npos && slash + 1 + name.size() == lower.size())
      volume.windows.push_back(path.substr(0, slash));
    if (!asked_.contains(name)) return;
    const auto* const directory = find_member(json, "directory", &rapidjson::Value::IsBool);
    if (!directory || !directory->GetBool()) volume.files.insert(lower);
    if (!directory || directory->GetBool()) volume.folders.insert(lower);
  }

  const std::set<std::string>& asked_;
  std::vector<Volume> volumes_;
  SnapshotDamage damage_;
  bool lacks_members_ = false;
  u64 live_ = 0;  // names
  std::optional<u64> stated_;
};

}  // namespace

std::unique_ptr<registry::DriverFiles> open_snapshot_files(const std::string& path,
                                                           const registry::WindowsFolder& windows,
                                                           const std::set<std::string>& asked,
                                                           core::Findings& findings) {
  auto file = open_text_input(path);
  if (!file) throw Failure{fmt::format("{}: {}", path, to_message(file.error()))};
  if (const auto kind = core::recognize_file(**file); tracefile::is_unpackable(kind)) {
    const auto most = tracefile::default_unpacked_limit((*file)->size());
    auto unpacked = unpack_single(**file, kind, most, "a snapshot");
    if (!unpacked) throw Failure{fmt::format("{}: {}", path, unpacked.error())};
    *file = std::move(*unpacked);
  }
  SnapshotLines lines{**file};
  SnapshotReader reader{asked};
  if (!lines.read_all([&](const rapidjson::Value& json) { return reader.read(json); }))
    throw Failure{
        fmt::format("{}: it is neither a folder nor lines of 'coldtrace ntfs snapshot'", path)};
  reader.damage().report(findings);
  lines.report(findings);
  if (reader.is_selection())
    findings.warning("snapshot-selection", std::nullopt,
                     "{}: the snapshot has not all names of its volumes, with their paths: none is "
                     "called missing",
                     path);
  for (const bool by_name : {true, false})
    for (auto& volume : reader.volumes())
      for (const auto& name : volume.windows)
        if (!by_name || registry::is_same_name(name, windows.name))
          return std::make_unique<SnapshotFiles>(std::move(volume), std::string{name},
                                                 lines.whole() && !reader.is_selection());
  return nullptr;
}

}  // namespace coldtrace::cli
