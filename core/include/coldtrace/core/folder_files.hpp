#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/result.hpp"

namespace coldtrace::core {

// An entry of a folder, as std::filesystem::directory_entry: what its listing says of its type is
// not asked again. Links are followed but by is_symlink(); false with an error if it cannot be
// asked.
class ListedEntry {
 public:
  ListedEntry(std::filesystem::path path, std::filesystem::file_type listed)
      : path_{std::move(path)}, listed_{listed} {}

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  // What the entry is, or a link leads to.
  [[nodiscard]] bool is_directory(std::error_code& error) const;
  [[nodiscard]] bool is_regular_file(std::error_code& error) const;
  // Whether it is a link itself.
  [[nodiscard]] bool is_symlink(std::error_code& error) const;

 private:
  [[nodiscard]] std::filesystem::file_type type(std::error_code& error) const;

  std::filesystem::path path_;
  std::filesystem::file_type listed_;  // `none` where the listing does not say
};

// Adds the entries of a folder, in the order of the file system, up to the first error.
[[nodiscard]] std::error_code add_entries(const std::filesystem::path& folder,
                                          std::vector<ListedEntry>& entries);

// The entries of the folder itself, in the order of the file system; the error if not all can be
// listed, or there is no such folder.
[[nodiscard]] Expected<std::vector<ListedEntry>, std::error_code> list_folder(
    const std::filesystem::path& folder);

// Whether there is no such folder, which is not the same as one that cannot be listed.
[[nodiscard]] bool is_no_folder(std::error_code error);

// What a walk comes across and does not descend into.
struct FolderEntry {
  enum class Kind {
    file,           // a regular one, or a link to one
    linked_folder,  // a link, which is not followed: that rules out loops
    other,          // a pipe, a socket, a device
    unknown,        // it cannot be examined, or is a dangling link
    unlisted,       // a folder that could not be listed completely
  };
  Kind kind;
  std::string path;
  std::error_code error;  // of `unknown` and `unlisted`
};

// Visits everything below a folder but the folders themselves, in the order of the file system,
// until `visit` returns false.
void walk_folder(const std::string& folder, const std::function<bool(const FolderEntry&)>& visit);

// The sorted paths of the regular files in a folder and in all folders below it.
struct FolderFiles {
  std::vector<std::string> files;
  bool has_more = false;  // than were asked for
};

// Finds up to `most` files. Links to files are followed, links to folders are not. A subfolder that
// cannot be listed and an entry that cannot be examined are the warning `folder-unreadable`; an
// error means that `folder` itself cannot be listed. Dangling links are ignored.
Result<FolderFiles> find_files_below(const std::string& folder, std::size_t most,
                                     Findings& findings);

}  // namespace coldtrace::core
