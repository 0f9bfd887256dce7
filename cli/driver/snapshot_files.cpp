#include "cli/driver/snapshot_files.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <span>
#include <tuple>

#include <fmt/format.h>
#include <rapidjson/document.h>

#include "cli/command/report.hpp"
#include "cli/command/text_input.hpp"
#include "cli/ntfs/snapshot_header.hpp"
#include "cli/ntfs/snapshot_lines.hpp"
#include "cli/ntfs/snapshot_selection.hpp"
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
  std::optional<u64> partition;          // none: the volume is the whole image
  std::optional<u64> shadow;             // of a copy that shows it as it was
  std::set<std::string> files, folders;  // what is not known to be one of them is in both
  std::vector<std::string> windows;
};

// The folder of Windows of a volume.
struct Candidate {
  Volume* volume;
  std::string windows;
  bool named;  // as it is asked for

  // A volume as it is before copies of it, a newer copy before an older one.
  auto rank() const { return std::tuple{!volume->shadow, volume->shadow.value_or(0), named}; }
  std::string text() const {
    auto text = fmt::format("\\{}", windows);
    if (volume->partition) text += fmt::format(" of partition {}", *volume->partition);
    if (volume->shadow) text += fmt::format(", as shadow copy {} shows it", *volume->shadow);
    return text;
  }
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
  bool is_selection() const { return lacks_paths_ || !selection_.has_all(ntfs::State::live); }
  // Why it is no snapshot of one run; empty where it is.
  std::string refusal() const { return run_.refusal(); }
  std::vector<Volume>& volumes() { return volumes_; }
  const SnapshotDamage& damage() const { return damage_; }

  // False where the line is none of a snapshot.
  bool read(const rapidjson::Value& json) {
    if (!json.IsObject()) return false;
    if (is_snapshot_header(json) && !read_header(json)) return false;
    if (volumes_.empty()) return false;
    const auto type = text_member(json, "type");
    if (type == "file") {
      selection_.read_row(json);
      lacks_paths_ |= !json.HasMember("path");
      if (text_member(json, "state") == "live") read_file(json);
    }
    if (type == "summary") {
      run_.read_summary();
      selection_.read_summary(json);
      damage_.read(json);
    }
    return true;
  }

 private:
  bool read_header(const rapidjson::Value& json) {
    const auto header = read_snapshot_header(json, Int64::number);
    if (!header) return false;
    run_.read_header(*header);
    auto& volume = volumes_.emplace_back();
    const auto* const partition = find_member(json, "partition", &rapidjson::Value::IsObject);
    if (!partition) return true;
    volume.partition = number_member(*partition, "number");
    if (const auto* shadow = find_member(*partition, "shadow", &rapidjson::Value::IsObject))
      volume.shadow = number_member(*shadow, "number").value_or(0);
    return true;
  }

  void read_file(const rapidjson::Value& json) {
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
  OneRun run_;
  SnapshotSelection selection_;
  SnapshotDamage damage_;
  bool lacks_paths_ = false;
};

std::vector<Candidate> find_windows(std::vector<Volume>& volumes, const std::string& name) {
  std::vector<Candidate> found;
  for (auto& volume : volumes)
    for (const auto& windows : volume.windows)
      found.push_back({&volume, windows, registry::is_same_name(windows, name)});
  std::ranges::stable_sort(found, std::greater{}, &Candidate::rank);
  return found;
}

// Which one is taken, where that is not the only one of the volumes as they are.
void tell_taken(const std::string& path, const std::vector<Candidate>& found,
                core::Findings& findings) {
  std::string others;
  for (const auto& one : std::span{found}.subspan(1))
    if (found.front().volume->shadow || !one.volume->shadow)
      others += fmt::format("{} {}", others.empty() ? "; there are also" : ",", one.text());
  if (!others.empty() || found.front().volume->shadow)
    findings.info("windows-chosen", std::nullopt, "{}: files are looked for in {}{}", path,
                  found.front().text(), others);
}

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
  if (const auto refusal = reader.refusal(); !refusal.empty())
    throw Failure{fmt::format("{}: {}", path, refusal)};
  reader.damage().report(findings);
  lines.report(findings);
  const bool lacks_names = lines.whole() && reader.is_selection();
  if (lacks_names)
    findings.warning("snapshot-selection", std::nullopt,
                     "{}: the snapshot has not all names of its volumes, with their paths: none is "
                     "called missing",
                     path);
  const auto found = find_windows(reader.volumes(), windows.name);
  if (found.empty()) return nullptr;
  tell_taken(path, found, findings);
  return std::make_unique<SnapshotFiles>(std::move(*found.front().volume), found.front().windows,
                                         lines.whole() && !lacks_names);
}

}  // namespace coldtrace::cli
