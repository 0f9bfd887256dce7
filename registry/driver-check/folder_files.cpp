#include "coldtrace/registry/driver-check/folder_files.hpp"

#include <filesystem>
#include <map>
#include <system_error>

#include "coldtrace/registry/hive/key.hpp"

namespace coldtrace::registry {
namespace {

namespace fs = std::filesystem;

// Names of a folder by their lower case. Where two differ in case alone, Windows sees one.
using Names = std::map<std::string, std::string>;

class FolderFiles final : public DriverFiles {
 public:
  explicit FolderFiles(fs::path root) : root_{std::move(root)} {}

  // Whether it has a folder of Windows: of the given name, or any.
  bool find_windows(const std::string& name) {
    const auto* top = list(root_);
    if (!top) return false;
    if (const auto named = top->find(name);
        named != top->end() && is_windows(root_ / named->second))
      return take(root_ / named->second, named->second);
    for (const auto& [lower, own] : *top)
      if (is_windows(root_ / own)) return take(root_ / own, own);
    only_windows_ = is_windows(root_);
    return only_windows_ && take(root_, name);
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
      const auto* names = list(at);
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

  // Null where the folder cannot be listed; a file has no names.
  const Names* list(const fs::path& folder) const {
    const auto [known, is_new] = names_.try_emplace(folder.string());
    if (!is_new) return known->second ? &*known->second : nullptr;
    std::error_code error;
    if (!fs::is_directory(folder, error)) {
      if (!error) known->second.emplace();
      return known->second ? &*known->second : nullptr;
    }
    Names names;
    for (fs::directory_iterator entry{folder, error}; !error && entry != fs::directory_iterator{};
         entry.increment(error)) {
      const auto own = entry->path().filename().string();
      names.emplace(lower(own), own);
    }
    if (!error) known->second = std::move(names);
    return known->second ? &*known->second : nullptr;
  }

  fs::path root_, windows_;
  std::string name_;
  bool only_windows_ = false;
  mutable std::map<std::string, std::optional<Names>> names_;
};

}  // namespace

std::unique_ptr<DriverFiles> open_folder_files(const std::string& path,
                                               const WindowsFolder& windows) {
  auto files = std::make_unique<FolderFiles>(path);
  if (!files->find_windows(windows.name)) return nullptr;
  return files;
}

}  // namespace coldtrace::registry
