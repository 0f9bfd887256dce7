#pragma once

#include <string>
#include <string_view>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::registry {

// Where Windows is installed, which a SYSTEM hive does not say.
struct WindowsFolder {
  char drive = 'c';
  std::string name = "windows";  // lower case, below the drive: "windows", "winnt"
};

// Where a path in the registry leads.
struct WindowsPath {
  enum class Place : u8 {
    windows,  // below %SystemRoot%
    drive,    // elsewhere on the drive that Windows is on
    other,    // another drive, a share, a device
    unknown,  // an unknown variable, or not a path
  };
  Place place = Place::unknown;
  std::string path;  // below that place, in lower case, with '\': "system32\drivers\disk.sys"

  // "%SystemRoot%\system32\drivers\disk.sys", "%SystemDrive%\tools\x.exe"
  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool is_known() const { return place == Place::windows || place == Place::drive; }
};

// How a path is used, which decides where one without a drive begins.
enum class PathUse : u8 {
  driver,   // below %SystemRoot%, as the kernel takes it
  program,  // the first word of a command line; a name alone is searched in System32
  dll,      // a name alone is searched in System32
};

// Resolves \SystemRoot\, \??\, %SystemRoot%, %windir%, %SystemDrive%, %ProgramFiles%, quotes, dots
// and slashes as Windows does. Source: MS Learn, "CreateServiceW" (lpBinaryPathName), "Naming
// Files, Paths, and Namespaces"; forms observed in hives of Windows 7 to 10.
[[nodiscard]] WindowsPath to_windows_path(std::string_view text, PathUse use,
                                          const WindowsFolder& windows);

// The folder in which it lies.
[[nodiscard]] WindowsPath parent_of(const WindowsPath& path);

}  // namespace coldtrace::registry
