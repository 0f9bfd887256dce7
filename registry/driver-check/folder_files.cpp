#include "coldtrace/registry/driver-check/folder_files.hpp"

#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "coldtrace/core/folder_files.hpp"
#include "coldtrace/registry/hive/key.hpp"

namespace coldtrace::registry {
namespace {

namespace fs = std::filesystem;

// Names of a folder by their lower case. Where two differ in case alone, Windows sees one.
using Names = std::map<std::string, std::string>;

class FolderFiles final : public DriverFiles {
 public:
  FolderFiles(fs::path root, core::Findings& findings)
      : root_{std::move(root)}, findings_{findings} {}

  // Whether it has a folder of Windows: of the given name, or any.
  bool find_windows(const std::string& name) {
    const auto* top = list_or_tell(root_);
    if (!top) return false;
    if (const auto named = top->find(name);
        named != top->end() && is_windows(root_ / named->second))
      return take(root_ / named->second, named->second);
    for (const auto& [lower, own] : *top)
      if (is_windows(root_ / own)) return take(root_ / own, own);
    only_windows_ = is_windows(root_);
    if (only_windows_) return take(root_, name);
    // One of them may be it.
    for (const auto& [lower, own] : *top) static_cast<void>(list_or_tell(root_ / own));
    return false;
  }

  std::string windows_folder() const override { return name_; }

  std::optional<bool> has(const WindowsPath& path, FileKind kind) const override {
    const bool below = path.place == WindowsPath::Place::windows;
    if (!path.is_known() || (!below && only_windows_)) return std::nullopt;
    fs::path at = below ? windows_ : root_;
    std::string_view left = path.path;
    while (!left.empty()) {
      const auto part = left.substr(0, left.find('\\'));
      left.remove_prefix(std::min(left.size(), part.size() + 1));
      const auto* names = list_or_tell(at);
      if (!names) return std::nullopt;
      const auto found = names->find(std::string{part});
      if (found == names->end()) return not_found(path);
      at /= found->second;
    }
    std::error_code error;
    const auto status = fs::status(at, error);
    if (status.type() == fs::file_type::not_found) return not_found(path);  // a link to nowhere
    if (error) return true;
    return fs::is_directory(status) == (kind == FileKind::folder);
  }

 private:
  bool is_windows(const fs::path& folder) {
    const auto* names = list(folder);
    return names && names->contains("system32");
  }

  bool take(const fs::path& folder, const std::string& name) {
    windows_ = folder;
    name_ = name;
    return true;
  }

  struct Listed {
    Names names;
    std::error_code error;
    bool told = false;
  };

  // A file and a link to nowhere have no names.
  Listed& listed(const fs::path& folder) const {
    const auto [place, is_new] = listed_.try_emplace(folder.string());
    auto& found = place->second;
    if (!is_new) return found;
    if (const auto entries = core::list_folder(folder)) {
      for (const auto& entry : *entries) {
        const auto own = entry.path().filename().string();
        found.names.emplace(lower(own), own);
      }
    } else if (!core::is_no_folder(entries.error())) {
      found.error = entries.error();
    }
    return found;
  }

  // Null where the folder cannot be listed.
  const Names* list(const fs::path& folder) const {
    const auto& found = listed(folder);
    return found.error ? nullptr : &found.names;
  }

  const Names* list_or_tell(const fs::path& folder) const {
    auto& found = listed(folder);
    if (!found.error) return &found.names;
    if (!std::exchange(found.told, true))
      findings_.warning("folder-unreadable", std::nullopt, "{}: cannot be listed: {}",
                        folder.string(), found.error.message());
    return nullptr;
  }

  fs::path root_, windows_;
  std::string name_;
  bool only_windows_ = false;
  core::Findings& findings_;
  mutable std::map<std::string, Listed> listed_;
};

}  // namespace

std::unique_ptr<DriverFiles> open_folder_files(const std::string& path,
                                               const WindowsFolder& windows,
                                               core::Findings& findings) {
  auto files = std::make_unique<FolderFiles>(path, findings);
  if (!files->find_windows(windows.name)) return nullptr;
  return files;
}

}  // namespace coldtrace::registry
