#include "coldtrace/syscall-map/servicing/serviced_files.hpp"

#include <filesystem>

#include <catch2/catch.hpp>
#include <sys/stat.h>

#include "fixtures/builders/temporary_directory.hpp"

using namespace coldtrace;
using syscall_map::list_serviced_files;

namespace fs = std::filesystem;

TEST_CASE("files of a folder and below are by path, what is not a file is counted or told") {
  const fixtures::TemporaryDirectory folder;
  fs::create_directory(folder.path("below"));
  for (const auto* name : {"b.dll", "below/a.dll", "a.dll"}) folder.write(name, "MZ");
  fs::create_symlink(folder.path("a.dll"), folder.path("c.dll"));
  fs::create_symlink(folder.path("absent"), folder.path("nowhere"));
  fs::create_directory_symlink(folder.path("below"), folder.path("linked"));
  REQUIRE(mkfifo(folder.path("pipe").c_str(), 0600) == 0);
  const auto listed = list_serviced_files(folder.path(""), 4);
  CHECK(listed.files == std::vector{folder.path("a.dll"), folder.path("b.dll"),
                                    folder.path("below/a.dll"), folder.path("c.dll")});
  CHECK(listed.other_files == 1);
  REQUIRE(listed.unreadable.size() == 1);
  CHECK(listed.unreadable.front().path == folder.path("nowhere"));
  CHECK(listed.unreadable.front().error == std::errc::no_such_file_or_directory);
  REQUIRE(listed.findings.all().size() == 1);
  CHECK(listed.findings.count("servicing-links") == 1);
  CHECK_FALSE(listed.findings.has_warnings());
  CHECK(listed.findings.all().front().text ==
        folder.path("linked") + ": a link to a folder, which is not followed");
}

TEST_CASE("files beyond the limit are left out, which is a warning") {
  const fixtures::TemporaryDirectory folder;
  fs::create_directory(folder.path("below"));
  for (const auto* name : {"a.dll", "b.dll", "below/c.dll"}) folder.write(name, "MZ");
  CHECK(list_serviced_files(folder.path(""), 3).findings.empty());
  const auto listed = list_serviced_files(folder.path(""), 2);
  CHECK(listed.files.size() == 2);
  CHECK(listed.findings.count("servicing-limit") == 1);
  CHECK(listed.findings.has_warnings());
}

TEST_CASE("a folder that cannot be listed is unreadable itself") {
  const fixtures::TemporaryDirectory folder;
  const auto listed = list_serviced_files(folder.path("absent"), 2);
  CHECK(listed.files.empty());
  REQUIRE(listed.unreadable.size() == 1);
  CHECK(listed.unreadable.front().path == folder.path("absent"));
}
