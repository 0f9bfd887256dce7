#pragma once

#include <optional>

#include "coldtrace/registry/driver-check/windows_path.hpp"

namespace coldtrace::registry {

// Which files are on the drive that Windows is on: a mounted volume, or a list of one.
class FileList {
 public:
  FileList() = default;
  FileList(const FileList&) = delete;
  FileList& operator=(const FileList&) = delete;
  virtual ~FileList() = default;

  // Whether a file or a folder is there; nothing where it is not known.
  virtual std::optional<bool> has(const WindowsPath& path) const = 0;
};

}  // namespace coldtrace::registry
