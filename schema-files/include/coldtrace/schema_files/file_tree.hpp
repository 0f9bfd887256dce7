#pragma once

#include <memory>
#include <string>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/image_source.hpp"
#include "coldtrace/core/lazy_file.hpp"

namespace coldtrace::schema_files {

// Where schema files are read from: this machine, or a volume in an image. The tree has to outlive
// the files opened in it.
class FileTree {
 public:
  // An open file whose structures are read.
  class File {
   public:
    File() = default;
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    virtual ~File() = default;
    [[nodiscard]] virtual core::FileView view() const = 0;
  };
  struct Entry {
    std::string name;
    bool is_folder;
  };

  FileTree() = default;
  FileTree(const FileTree&) = delete;
  FileTree& operator=(const FileTree&) = delete;
  virtual ~FileTree() = default;

  // The file itself, or the files of a folder and of all folders below it, sorted by path. A folder
  // that cannot be listed is a finding, and so are more files than coldtrace looks at.
  [[nodiscard]] virtual std::vector<std::string> list(const std::string& path,
                                                      core::Findings& findings) const = 0;
  // The entries of the folder itself; none if it is not a folder. A folder that cannot be listed is
  // the warning `folder-unreadable`.
  [[nodiscard]] virtual std::vector<Entry> list_folder(const std::string& folder,
                                                       core::Findings& findings) const = 0;

  // The bytes of a regular file.
  virtual core::Result<std::unique_ptr<const core::ImageSource>> source(
      const std::string& path) const = 0;
  // The same for a file that is read in places; more than `cap` bytes are the error `limit`.
  virtual core::Result<std::unique_ptr<const File>> open(const std::string& path,
                                                         u64 cap) const = 0;

  // The name in a store of a file that was found below `top`.
  [[nodiscard]] virtual std::string stored_path(const std::string& path,
                                                const std::string& top) const = 0;
  // Whether paths are those of this machine.
  [[nodiscard]] virtual bool is_machine() const { return false; }

  // Up to `most` bytes at `offset`.
  core::Result<std::vector<std::byte>> read(const std::string& path, u64 offset, u64 most) const;
};

// The files of this machine. Links to folders are not followed, which rules out loops. In a store
// their paths begin with the folder that was named: "System32/drivers/x.sys".
[[nodiscard]] const FileTree& machine_files();

}  // namespace coldtrace::schema_files
