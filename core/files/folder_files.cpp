#include "coldtrace/core/folder_files.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include <dirent.h>

namespace coldtrace::core {
namespace {

namespace fs = std::filesystem;
using Kind = FolderEntry::Kind;

// Nothing of a folder that the walk goes into.
std::optional<FolderEntry> describe(const ListedEntry& entry) {
  std::error_code error;
  if (entry.is_directory(error)) {
    if (!entry.is_symlink(error)) return std::nullopt;
    return FolderEntry{Kind::linked_folder, entry.path().string(), {}};
  }
  const auto kind = entry.is_regular_file(error) ? Kind::file : error ? Kind::unknown : Kind::other;
  return FolderEntry{kind, entry.path().string(), error};
}

fs::file_type listed_type(const dirent& entry) {
  switch (entry.d_type) {
    case DT_REG:
      return fs::file_type::regular;
    case DT_DIR:
      return fs::file_type::directory;
    case DT_LNK:
      return fs::file_type::symlink;
    case DT_BLK:
      return fs::file_type::block;
    case DT_CHR:
      return fs::file_type::character;
    case DT_FIFO:
      return fs::file_type::fifo;
    case DT_SOCK:
      return fs::file_type::socket;
    default:
      return fs::file_type::none;
  }
}

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

}  // namespace

fs::file_type ListedEntry::type(std::error_code& error) const {
  error.clear();
  if (listed_ != fs::file_type::none && listed_ != fs::file_type::symlink) return listed_;
  return fs::status(path_, error).type();
}

bool ListedEntry::is_directory(std::error_code& error) const {
  return type(error) == fs::file_type::directory;
}

bool ListedEntry::is_regular_file(std::error_code& error) const {
  return type(error) == fs::file_type::regular;
}

bool ListedEntry::is_symlink(std::error_code& error) const {
  error.clear();
  const auto own =
      listed_ == fs::file_type::none ? fs::symlink_status(path_, error).type() : listed_;
  return own == fs::file_type::symlink;
}

// Not by a directory_iterator: its next entry ends the process where there is no memory for a name
// (libstdc++ 12).
std::error_code add_entries(const fs::path& folder, std::vector<ListedEntry>& entries) {
  const std::unique_ptr<DIR, CloseFolder> opened{::opendir(folder.c_str())};
  if (!opened) return {errno, std::generic_category()};
  for (;;) {
    errno = 0;
    const auto* const entry = ::readdir(opened.get());
    if (entry == nullptr) return {errno, std::generic_category()};
    const std::string_view name{entry->d_name};
    if (name != "." && name != "..") entries.emplace_back(folder / name, listed_type(*entry));
  }
}

Expected<std::vector<ListedEntry>, std::error_code> list_folder(const fs::path& folder) {
  std::vector<ListedEntry> entries;
  if (const auto error = add_entries(folder, entries)) return core::fail(error);
  return entries;
}

bool is_no_folder(std::error_code error) {
  return error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory;
}

void walk_folder(const std::string& folder, const std::function<bool(const FolderEntry&)>& visit) {
  std::vector<fs::path> folders{folder};
  while (!folders.empty()) {
    const auto current = std::move(folders.back());
    folders.pop_back();
    std::vector<ListedEntry> entries;
    const auto error = add_entries(current, entries);
    for (const auto& entry : entries) {
      if (const auto found = describe(entry)) {
        if (!visit(*found)) return;
      } else {
        folders.push_back(entry.path());
      }
    }
    if (error && !visit({Kind::unlisted, current.string(), error})) return;
  }
}

Result<FolderFiles> find_files_below(const std::string& folder, std::size_t most,
                                     Findings& findings) {
  FolderFiles found;
  std::optional<ParseError> failure;
  const auto add = [&](const FolderEntry& entry) {
    if (entry.kind == Kind::file) {
      found.has_more = found.files.size() == most;
      if (!found.has_more) found.files.push_back(entry.path);
    } else if (entry.kind == Kind::unlisted && entry.path == folder) {
      failure = {Fault::io, 0, "folder", "entries", 0, static_cast<u64>(entry.error.value())};
    } else if (entry.kind == Kind::unlisted) {
      findings.warning("folder-unreadable", std::nullopt, "{}: cannot be listed: {}", entry.path,
                       entry.error.message());
    } else if (entry.kind == Kind::unknown && entry.error != std::errc::no_such_file_or_directory) {
      findings.warning("folder-unreadable", std::nullopt, "{}: cannot be read: {}", entry.path,
                       entry.error.message());
    }
    return !found.has_more && !failure;
  };
  walk_folder(folder, add);
  if (failure) return fail(*failure);
  std::sort(found.files.begin(), found.files.end());
  return found;
}

}  // namespace coldtrace::core
