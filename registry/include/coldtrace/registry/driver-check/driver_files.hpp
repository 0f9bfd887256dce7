#pragma once

#include <optional>
#include <set>
#include <string>

#include "coldtrace/registry/driver-check/file_list.hpp"

namespace coldtrace::registry {

// The files of the drive that Windows is on, and which of its folders that is.
class DriverFiles : public FileList {
 public:
  [[nodiscard]] virtual std::string windows_folder()
      const = 0;  // its name below the drive, as it is there

 protected:
  // Of a path that is not found: short names (PROGRA~1) are not in lists of long ones, and letters
  // beyond ASCII may be there in another case.
  static std::optional<bool> not_found(const WindowsPath& path) {
    for (const char c : path.path)
      if (c == '~' || static_cast<signed char>(c) < 0) return std::nullopt;
    return false;
  }
};

// Finds out which paths a check asks for: the others of a snapshot need no memory.
class AskedPaths final : public FileList {
 public:
  [[nodiscard]] std::optional<bool> has(const WindowsPath& path, FileKind) const override {
    names_.insert(path.path.substr(path.path.rfind('\\') + 1));
    return std::nullopt;
  }
  [[nodiscard]] const std::set<std::string>& names() const { return names_; }

 private:
  mutable std::set<std::string> names_;  // of the files alone, in lower case
};

}  // namespace coldtrace::registry
