#include "coldtrace/schema_files/file_tree.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "coldtrace/core/file.hpp"
#include "coldtrace/core/folder_files.hpp"
#include "schema-files/file_walk.hpp"

namespace coldtrace::schema_files {
namespace {

namespace fs = std::filesystem;

class MachineFile final : public FileTree::File {
 public:
  explicit MachineFile(std::unique_ptr<core::LazyFile> file) : file_{std::move(file)} {}
  core::FileView view() const override { return *file_; }

 private:
  std::unique_ptr<core::LazyFile> file_;
};

// From the folder that was named, which is its first part: "System32/drivers/x.sys".
std::string path_from(const std::string& path, const std::string& top) {
  if (path.empty()) return {};
  std::error_code error;
  const auto whole = fs::absolute(path, error).lexically_normal();
  auto folder = fs::absolute(top, error).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();
  const auto relative = whole.lexically_relative(folder.parent_path());
  return relative.empty() || *relative.begin() == ".." ? whole.filename().string()
                                                       : relative.generic_string();
}

class MachineFiles final : public FileTree {
 public:
  std::vector<std::string> list(const std::string& path, core::Findings& findings) const override {
    return list_files(path, findings);
  }

  std::vector<Entry> list_folder(const std::string& folder,
                                 core::Findings& findings) const override {
    std::vector<Entry> entries;
    const auto found = core::list_folder(folder);
    if (!found && !core::is_no_folder(found.error()))
      findings.warning("folder-unreadable", std::nullopt, "{}: cannot be listed: {}", folder,
                       found.error().message());
    if (!found) return entries;
    for (const auto& entry : *found) {
      std::error_code error;
      // What cannot be asked what it is, is told of when it is listed.
      const bool is_folder = entry.is_directory(error) || (error && !core::is_no_folder(error));
      entries.push_back({entry.path().filename().string(), is_folder});
    }
    return entries;
  }

  core::Result<std::unique_ptr<const core::ImageSource>> source(
      const std::string& path) const override {
    return COLDTRACE_TRY(core::FileImage::open(path));
  }
  core::Result<std::unique_ptr<const File>> open(const std::string& path, u64 cap) const override {
    return std::make_unique<MachineFile>(COLDTRACE_TRY(core::LazyFile::open(path, cap)));
  }

  std::string stored_path(const std::string& path, const std::string& top) const override {
    return path_from(path, top);
  }
  bool is_machine() const override { return true; }
};

}  // namespace

core::Result<std::vector<std::byte>> FileTree::read(const std::string& path, u64 offset,
                                                    u64 most) const {
  const auto file = COLDTRACE_TRY(source(path));
  const u64 there = offset < file->size() ? file->size() - offset : 0;
  std::vector<std::byte> bytes(std::min(there, most));
  COLDTRACE_TRY(file->read_at(offset, bytes));
  return bytes;
}

const FileTree& machine_files() {
  static const MachineFiles files;
  return files;
}

}  // namespace coldtrace::schema_files
