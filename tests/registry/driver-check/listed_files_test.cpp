#include "coldtrace/registry/driver-check/listed_files.hpp"

#include <catch2/catch.hpp>

using namespace coldtrace;
using namespace coldtrace::registry;

namespace {

const WindowsFolder windows{};
const std::set<std::string> asked{"disk.sys", "drivers"};

ListedVolume volume_with(const char* folder, std::optional<u64> partition = std::nullopt,
                         std::optional<u64> shadow = std::nullopt) {
  ListedVolume volume{partition, shadow};
  volume.add(std::string{folder} + "/System32", true, asked);
  volume.add(std::string{folder} + "/System32/DRIVERS", true, asked);
  volume.add(std::string{folder} + "/System32/DRIVERS/Disk.sys", false, asked);
  volume.add(std::string{folder} + "/notepad.exe", false, asked);
  return volume;
}

std::string chosen_of(const std::vector<ListedVolume>& volumes, core::Findings& findings) {
  const auto files = choose_listed_files(volumes, windows, ListExtent::whole, "list", findings);
  return files ? files->windows_folder() : "";
}

}  // namespace

TEST_CASE("files of a list are found whatever their case, and are not folders") {
  const auto extent = GENERATE(ListExtent::whole, ListExtent::selection, ListExtent::damaged);
  const bool whole = extent == ListExtent::whole;
  CAPTURE(whole);
  core::Findings findings;
  const auto files =
      choose_listed_files({volume_with("\\WINDOWS")}, windows, extent, "list", findings);
  REQUIRE(files);
  CHECK(findings.empty() == (extent != ListExtent::selection));
  CHECK(files->windows_folder() == "WINDOWS");
  const auto has = [&](const char* text, FileKind kind) {
    return files->has(to_windows_path(text, PathUse::driver, windows), kind);
  };
  CHECK(has("system32\\drivers\\disk.sys", FileKind::file) == true);
  CHECK(has("system32\\drivers", FileKind::folder) == true);
  // What is not there is known of a whole list alone, but for short names and other drives.
  const auto absent = whole ? std::optional{false} : std::nullopt;
  CHECK(has("system32\\drivers\\disk.sys", FileKind::folder) == absent);
  CHECK(has("system32\\drivers\\gone.sys", FileKind::file) == absent);
  CHECK_FALSE(has("\\??\\C:\\PROGRA~1\\a.sys", FileKind::file));
  CHECK_FALSE(has("\\??\\D:\\tools\\x.exe", FileKind::file));
}

TEST_CASE("what a list does not call a folder or a file may be both") {
  auto volume = volume_with("Windows");
  volume.add("disk.sys", std::nullopt, asked);
  CHECK(volume.files().contains("disk.sys"));
  CHECK(volume.folders().contains("disk.sys"));
  // Only what is asked for is kept.
  CHECK_FALSE(volume.files().contains("windows\\notepad.exe"));
}

TEST_CASE("Windows is a folder of the root with System32 in it") {
  ListedVolume volume;
  volume.add("Backup/Windows/System32", true, asked);
  volume.add("System32", true, asked);
  volume.add("Windows/System32.old", true, asked);
  core::Findings findings;
  CHECK(choose_listed_files({volume}, windows, ListExtent::whole, "list", findings) == nullptr);
  CHECK(choose_listed_files({}, windows, ListExtent::whole, "list", findings) == nullptr);
}

TEST_CASE("of several Windows the one that is asked for is taken, and of a volume's present") {
  struct Row {
    const char* why;
    std::vector<ListedVolume> volumes;
    const char* taken;
    const char* finding;
  };
  const Row rows[] = {
      {"the name",
       {volume_with("WinNT", 1), volume_with("Windows", 2)},
       "Windows",
       "list: files are looked for in \\Windows of partition 2; there are also \\WinNT of "
       "partition 1"},
      {"the present, whatever the name",
       {volume_with("Windows", 1, 3), volume_with("WinNT", 1)},
       "WinNT",
       ""},
      {"the newest copy",
       {volume_with("Old", 1, 1), volume_with("New", 1, 2)},
       "New",
       "list: files are looked for in \\New of partition 1, as shadow copy 2 shows it; there are "
       "also \\Old of partition 1, as shadow copy 1 shows it"},
      {"the first of equals",
       {volume_with("A"), volume_with("B")},
       "A",
       "list: files are looked for in \\A; there are also \\B"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.why);
    core::Findings findings;
    CHECK(chosen_of(row.volumes, findings) == row.taken);
    const std::string_view expected{row.finding};
    REQUIRE(findings.all().size() == (expected.empty() ? 0 : 1));
    if (expected.empty()) continue;
    CHECK(findings.all()[0].code == "windows-chosen");
    CHECK(findings.all()[0].text == expected);
  }
}

TEST_CASE("a list that has not all names says so, whether Windows is in it or not") {
  const bool has_windows = GENERATE(false, true);
  CAPTURE(has_windows);
  std::vector<ListedVolume> volumes;
  if (has_windows) volumes.push_back(volume_with("Windows"));
  core::Findings selection, damaged;
  CHECK((choose_listed_files(volumes, windows, ListExtent::selection, "list", selection) !=
         nullptr) == has_windows);
  REQUIRE(selection.count("snapshot-selection") == 1);
  CHECK(selection.has_warnings());
  CHECK(selection.all().front().text.starts_with("list: the snapshot lacks names or paths"));
  (void)choose_listed_files(volumes, windows, ListExtent::damaged, "list", damaged);
  CHECK(damaged.empty());
}
