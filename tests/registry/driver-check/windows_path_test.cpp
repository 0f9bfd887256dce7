#include "coldtrace/registry/driver-check/windows_path.hpp"

#include <catch2/catch.hpp>

using namespace coldtrace;
using namespace coldtrace::registry;

// Source: MS Learn, "CreateServiceW" (lpBinaryPathName), "Naming Files, Paths, and Namespaces".
TEST_CASE("a path of the registry leads where Windows takes it") {
  using Place = WindowsPath::Place;
  struct Row {
    const char* text;
    PathUse use;
    Place place;
    const char* path;
  };
  const auto row = GENERATE(values<Row>({
      {"System32\\drivers\\disk.sys", PathUse::driver, Place::windows,
       "system32\\drivers\\disk.sys"},
      {"\\SystemRoot\\System32\\a.sys", PathUse::driver, Place::windows, "system32\\a.sys"},
      {"\\??\\C:\\Windows\\a.sys", PathUse::driver, Place::windows, "a.sys"},
      {"\\??\\C:\\Program Files\\a.sys", PathUse::driver, Place::drive, "program files\\a.sys"},
      {"\"C:\\Program Files\\a.exe\" -k x", PathUse::program, Place::drive, "program files\\a.exe"},
      {"C:\\Program Files\\a.exe -k x", PathUse::program, Place::drive, "program files\\a.exe"},
      {"svchost.exe -k netsvcs", PathUse::program, Place::windows, "system32\\svchost.exe"},
      {"%windir%/system32/../a.dll", PathUse::dll, Place::windows, "a.dll"},
      {"D:\\a.dll", PathUse::dll, Place::other, "d:\\a.dll"},
      {"\\\\server\\share\\a.dll", PathUse::dll, Place::other, "\\\\server\\share\\a.dll"},
      {"%Unknown%\\a.dll", PathUse::dll, Place::unknown, "%unknown%\\a.dll"},
  }));
  CAPTURE(row.text);
  const auto path = to_windows_path(row.text, row.use, WindowsFolder{});
  CHECK(path.place == row.place);
  CHECK(path.path == row.path);
}
