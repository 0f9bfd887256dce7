#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/integers.hpp"
#include "coldtrace/registry/driver-check/driver_files.hpp"

namespace coldtrace::registry {

// The files of a volume, from a list of their paths.
class ListedVolume {
 public:
  ListedVolume() = default;
  // Without `partition`, the whole image; with `shadow`, the volume as that shadow copy shows it.
  ListedVolume(std::optional<u64> partition, std::optional<u64> shadow)
      : partition_{partition}, shadow_{shadow} {}

  // Adds a file or folder by its path from the root of the volume, with '\' or '/'. Without
  // `is_folder` it counts as both. Only those whose names are in `asked`, in lower case, are kept.
  void add(std::string_view path, std::optional<bool> is_folder,
           const std::set<std::string>& asked);

  [[nodiscard]] const std::set<std::string>& files() const { return files_; }
  [[nodiscard]] const std::set<std::string>& folders() const { return folders_; }
  // Folders of the root with System32 in them, in their own case.
  [[nodiscard]] const std::vector<std::string>& windows() const { return windows_; }
  [[nodiscard]] std::optional<u64> partition() const { return partition_; }
  [[nodiscard]] std::optional<u64> shadow() const { return shadow_; }

 private:
  std::optional<u64> partition_, shadow_;
  std::set<std::string> files_, folders_;  // in lower case, with '\'
  std::vector<std::string> windows_;
};

// How much of the files of its volumes a list has.
enum class ListExtent : u8 {
  whole,      // all of them: what is not listed does not exist
  selection,  // not all, or not with paths, though the list is complete
  damaged,    // not all, as its reader has reported
};

// The files of the volume that Windows is on. The current state of a volume is preferred to its
// shadow copies, a newer copy to an older one, and then the folder that `windows` names to any
// other. The choice is the finding "windows-chosen", with the name of the list, unless it is the
// only Windows folder in the current state of the volumes. A selection is `snapshot-selection`.
// Null if there is no Windows folder.
[[nodiscard]] std::unique_ptr<DriverFiles> choose_listed_files(
    const std::vector<ListedVolume>& volumes, const WindowsFolder& windows, ListExtent extent,
    std::string_view list, core::Findings& findings);

}  // namespace coldtrace::registry
