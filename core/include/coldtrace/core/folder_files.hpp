#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <system_error>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/result.hpp"

namespace coldtrace::core {

// What is in a folder itself, as the file system has it; the error where not all of it can be
// listed, or there is no such folder.
[[nodiscard]] Expected<std::vector<std::filesystem::directory_entry>, std::error_code> list_folder(
    const std::filesystem::path& folder);

// Whether there is no such folder, which is not the same as one that cannot be listed.
[[nodiscard]] bool is_no_folder(std::error_code error);

// What a walk comes across that is not a folder to go into.
struct FolderEntry {
  enum class Kind {
    file,           // a regular one, or a link to one
    linked_folder,  // a link, which is not followed: that rules out circles
    other,          // a pipe, a socket, a device
    unknown,        // nothing can be told of it; a link to nowhere
    unlisted,       // a folder of which not all entries could be listed
  };
  Kind kind;
  std::string path;
  std::error_code error;  // of what is unknown or unlisted
};

// Visits what is not a folder in a folder and in all below it, as the file system has it, until
// `visit` returns false.
void walk_folder(const std::string& folder, const std::function<bool(const FolderEntry&)>& visit);

// The paths of the regular files in a folder and in all below it, ascending.
struct FolderFiles {
  std::vector<std::string> files;
  bool has_more = false;  // than were asked for
};

// Up to `most` files. Links to folders are not followed, those to files are. A folder below that
// cannot be listed, and an entry of which nothing can be told, are the warning `folder-unreadable`;
// that `folder` itself cannot be listed is the error. Links to nowhere are passed over.
Result<FolderFiles> find_files_below(const std::string& folder, std::size_t most,
                                     Findings& findings);

}  // namespace coldtrace::core
