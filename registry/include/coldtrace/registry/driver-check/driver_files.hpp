#pragma once

#include <optional>
#include <set>
#include <string>

#include "coldtrace/registry/driver-check/file_list.hpp"

namespace coldtrace::registry {

// The files of the drive that Windows is on, and the name of the Windows folder.
class DriverFiles : public FileList {
 public:
  [[nodiscard]] virtual std::string windows_folder()
      const = 0;  // its name on the drive, in its own case

 protected:
  // The answer for a path that was not found. Nothing for short names (PROGRA~1), which lists of
  // long names lack, and for non-ASCII letters, which may differ in case.
  static std::optional<bool> not_found(const WindowsPath& path) {
    for (const char c : path.path)
      if (c == '~' || static_cast<signed char>(c) < 0) return std::nullopt;
    return false;
  }
};

// Records which names a check asks for, so that the others of a snapshot take no memory.
class AskedPaths final : public FileList {
 public:
  [[nodiscard]] std::optional<bool> has(const WindowsPath& path, FileKind) const override {
    names_.insert(path.path.substr(path.path.rfind('\\') + 1));
    return std::nullopt;
  }
  [[nodiscard]] const std::set<std::string>& names() const { return names_; }

 private:
  mutable std::set<std::string> names_;  // of the files without folders, in lower case
};

}  // namespace coldtrace::registry
