#pragma once

#include <optional>

#include "coldtrace/registry/driver-check/windows_path.hpp"

namespace coldtrace::registry {

// What a path leads to.
enum class FileKind : u8 { file, folder };

// Which files are on the drive that Windows is on: a mounted volume, or a list of one.
class FileList {
 public:
  FileList() = default;
  FileList(const FileList&) = delete;
  FileList& operator=(const FileList&) = delete;
  virtual ~FileList() = default;

  // Whether the path is there and of this kind; nothing if that is not known.
  [[nodiscard]] virtual std::optional<bool> has(const WindowsPath& path, FileKind kind) const = 0;
};

}  // namespace coldtrace::registry
