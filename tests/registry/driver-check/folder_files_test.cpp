#include "coldtrace/registry/driver-check/folder_files.hpp"

#include <filesystem>

#include <catch2/catch.hpp>

#include "fixtures/builders/temporary_directory.hpp"

using namespace coldtrace;
using namespace coldtrace::registry;

namespace {

void make(const fixtures::TemporaryDirectory& root, const std::string& file) {
  const auto path = std::filesystem::path{root.path(file)};
  std::filesystem::create_directories(path.parent_path());
  root.write(file, "x");
}

const WindowsFolder windows{};

}  // namespace

TEST_CASE("files of a drive are found whatever their case, and are not folders") {
  const fixtures::TemporaryDirectory root;
  make(root, "WINDOWS/System32/Drivers/Disk.SYS");
  make(root, "Tools/x.exe");
  const auto files = open_folder_files(root.path(""), windows);
  REQUIRE(files);
  CHECK(files->windows_folder() == "WINDOWS");
  const auto has = [&](const char* text, FileKind kind = FileKind::file) {
    return files->has(to_windows_path(text, PathUse::driver, windows), kind);
  };
  CHECK(has("system32\\drivers\\disk.sys") == true);
  CHECK(has("system32\\drivers\\disk.sys", FileKind::folder) == false);
  CHECK(has("system32\\drivers", FileKind::folder) == true);
  CHECK(has("\\??\\C:\\tools\\X.EXE") == true);
  CHECK(has("system32\\drivers\\gone.sys") == false);
  // A short name may stand for a file of the list, and another drive is not this one.
  CHECK_FALSE(has("\\??\\C:\\PROGRA~1\\a.sys"));
  CHECK_FALSE(has("\\??\\D:\\tools\\x.exe"));
}

TEST_CASE("of Windows' own folder nothing is known of the rest of the drive") {
  const fixtures::TemporaryDirectory root;
  make(root, "system32/ntdll.dll");
  const auto files = open_folder_files(root.path(""), windows);
  REQUIRE(files);
  CHECK(files->has(to_windows_path("system32\\ntdll.dll", PathUse::driver, windows),
                   FileKind::file) == true);
  CHECK_FALSE(
      files->has(to_windows_path("c:\\tools\\x.exe", PathUse::driver, windows), FileKind::file));
}

TEST_CASE("a folder without System32 below it has no Windows") {
  const fixtures::TemporaryDirectory root;
  make(root, "Windows/notepad.exe");
  CHECK(open_folder_files(root.path(""), windows) == nullptr);
}
