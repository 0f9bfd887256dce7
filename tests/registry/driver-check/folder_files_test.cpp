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
  core::Findings findings;
  const auto files = open_folder_files(root.path(""), windows, findings);
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
  core::Findings findings;
  const auto files = open_folder_files(root.path(""), windows, findings);
  REQUIRE(files);
  CHECK(files->has(to_windows_path("system32\\ntdll.dll", PathUse::driver, windows),
                   FileKind::file) == true);
  CHECK_FALSE(
      files->has(to_windows_path("c:\\tools\\x.exe", PathUse::driver, windows), FileKind::file));
}

TEST_CASE("a folder without System32 below it has no Windows") {
  const fixtures::TemporaryDirectory root;
  make(root, "Windows/notepad.exe");
  core::Findings findings;
  CHECK(open_folder_files(root.path(""), windows, findings) == nullptr);
  CHECK(findings.empty());
}

TEST_CASE("a folder that cannot be listed is told once it is asked for") {
  const fixtures::TemporaryDirectory root;
  core::Findings findings;
  const auto loop = [&](const char* folder) {
    std::filesystem::create_symlink(std::filesystem::path{folder}.filename(), root.path(folder));
  };
  SECTION("where files are") {
    make(root, "Windows/System32/ntdll.dll");
    loop("Documents");
    loop("Windows/System32/drivers");
    loop("Windows/System32/config");
    const auto files = open_folder_files(root.path(""), windows, findings);
    REQUIRE(files);
    CHECK(findings.empty());
    for (const auto* const name : {"disk.sys", "kbd.sys"})
      CHECK_FALSE(files->has(
          to_windows_path(std::string{"system32\\drivers\\"} + name, PathUse::driver, windows),
          FileKind::file));
    REQUIRE(findings.all().size() == 1);
    CHECK(findings.count("folder-unreadable") == 1);
    CHECK(findings.all().front().text.find("System32/drivers: cannot be listed") !=
          std::string::npos);
  }
  SECTION("where Windows may be") {
    loop("Windows");
    CHECK(open_folder_files(root.path(""), windows, findings) == nullptr);
    CHECK(findings.count("folder-unreadable") == 1);
  }
}
