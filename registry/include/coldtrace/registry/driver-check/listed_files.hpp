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

// The files of a volume by a list of their paths.
class ListedVolume {
 public:
  ListedVolume() = default;
  // The whole image where it is of no partition; of a shadow copy as that shows it.
  ListedVolume(std::optional<u64> partition, std::optional<u64> shadow)
      : partition_{partition}, shadow_{shadow} {}

  // A file of this path from the root of the volume, with '\' or '/'. What is not known to be a
  // folder or none may be both. Only those whose names are in `asked`, in lower case, are kept.
  void add(std::string_view path, std::optional<bool> is_folder,
           const std::set<std::string>& asked);

  [[nodiscard]] const std::set<std::string>& files() const { return files_; }
  [[nodiscard]] const std::set<std::string>& folders() const { return folders_; }
  // Folders of the root with System32 in them, as they are called.
  [[nodiscard]] const std::vector<std::string>& windows() const { return windows_; }
  [[nodiscard]] std::optional<u64> partition() const { return partition_; }
  [[nodiscard]] std::optional<u64> shadow() const { return shadow_; }

 private:
  std::optional<u64> partition_, shadow_;
  std::set<std::string> files_, folders_;  // in lower case, with '\'
  std::vector<std::string> windows_;
};

// What a list has of the files of its volumes.
enum class ListExtent : u8 {
  whole,      // all of them: what is not in it is not there
  selection,  // not all, or not with their paths, though all of the list is there
  damaged,    // not all, as who read it has told
};

// The files of the volume that Windows is on: one as it is before shadow copies of it, a newer copy
// before an older one, then the folder that `windows` names before any other. Which one is taken is
// the finding "windows-chosen", with the name of the list, where it is not the only one of the
// volumes as they are. A selection is `snapshot-selection`. Null where there is no Windows.
[[nodiscard]] std::unique_ptr<DriverFiles> choose_listed_files(
    const std::vector<ListedVolume>& volumes, const WindowsFolder& windows, ListExtent extent,
    std::string_view list, core::Findings& findings);

}  // namespace coldtrace::registry
