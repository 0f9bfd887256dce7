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

// What a path of the registry leads to.
struct WindowsPath {
  enum class Place : u8 {
    windows,  // below %SystemRoot%
    drive,    // elsewhere on the drive that Windows is on
    other,    // another drive, a share, a device
    unknown,  // a variable that is not known, or no path
  };
  Place place = Place::unknown;
  std::string path;  // below that place, in lower case, with '\': "system32\drivers\disk.sys"

  // "%SystemRoot%\system32\drivers\disk.sys", "%SystemDrive%\tools\x.exe"
  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool is_known() const { return place == Place::windows || place == Place::drive; }
};

// How a path is to be read, which decides where one without a drive begins.
enum class PathUse : u8 {
  driver,   // below %SystemRoot%, as the kernel takes it
  program,  // the first word of a command line; a name alone is searched in System32
  dll,      // a name alone is searched in System32
};

// Takes \SystemRoot\, \??\, %SystemRoot%, %windir%, %SystemDrive%, %ProgramFiles%, quotes, dots and
// slashes as Windows does. Source: MS Learn, "CreateServiceW" (lpBinaryPathName), "Naming Files,
// Paths, and Namespaces"; forms that were seen in hives of Windows 7 to 10.
[[nodiscard]] WindowsPath to_windows_path(std::string_view text, PathUse use,
                                          const WindowsFolder& windows);

// The folder that it lies in.
[[nodiscard]] WindowsPath parent_of(const WindowsPath& path);

}  // namespace coldtrace::registry
