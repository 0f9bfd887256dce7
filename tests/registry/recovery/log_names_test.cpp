#include "coldtrace/registry/recovery/log_names.hpp"

#include <filesystem>

#include <catch2/catch.hpp>

#include "fixtures/builders/temporary_directory.hpp"

using namespace coldtrace;
using namespace coldtrace::registry;

namespace fs = std::filesystem;

TEST_CASE("logs of a hive are called as it is, in any case") {
  struct Row {
    const char* hive;
    const char* name;
    bool is_log;
  };
  const auto row = GENERATE(values<Row>({
      {"SYSTEM", "SYSTEM.LOG", true},
      {"SYSTEM", "system.log1", true},
      {"system", "SYSTEM.Log2", true},
      {"SYSTEM", "SYSTEM.LOG3", false},
      {"SYSTEM", "SYSTEM.LOG11", false},
      {"SYSTEM", "SYSTEM", false},
      {"SYSTEM", "SYSTEM.SAV", false},
      {"SYSTEM", "SOFTWARE.LOG1", false},
      {"SYSTEM", "OLD.SYSTEM.LOG1", false},
  }));
  CAPTURE(row.hive, row.name);
  CHECK(is_log_name(row.hive, row.name) == row.is_log);
}

TEST_CASE("numbered logs count before what setup left") {
  using Names = std::vector<std::string>;
  const Names others{"SYSTEM", "SAM.LOG1", "SYSTEM.regtrans-ms"};
  const auto chosen = [&](Names names) {
    names.insert(names.end(), others.begin(), others.end());
    return choose_log_names("SYSTEM", names);
  };
  CHECK(chosen({}).empty());
  CHECK(chosen({"SYSTEM.LOG"}) == Names{"SYSTEM.LOG"});
  CHECK(chosen({"system.LOG2", "SYSTEM.LOG", "SYSTEM.LOG1"}) ==
        Names{"SYSTEM.LOG1", "system.LOG2"});
}

TEST_CASE("logs lie beside a hive, or beside what a link to it leads to") {
  const fixtures::TemporaryDirectory here;
  core::Findings findings;
  const auto hive = here.path("config/SYSTEM");
  fs::create_directories(here.path("config"));
  fs::create_directories(here.path("links"));
  for (const auto* name : {"config/SYSTEM", "config/SYSTEM.LOG1", "config/SYSTEM.LOG2"})
    here.write(name, "x");
  CHECK(find_logs(hive, findings) == std::vector{hive + ".LOG1", hive + ".LOG2"});
  const auto link = here.path("links/SYSTEM");
  fs::create_symlink("../config/SYSTEM", link);
  const auto target = fs::canonical(hive).string();
  CHECK(find_logs(link, findings) == std::vector{target + ".LOG1", target + ".LOG2"});
  here.write("links/SYSTEM.LOG", "x");
  CHECK(find_logs(link, findings) == std::vector{link + ".LOG"});
  CHECK(find_logs(here.path("absent/SYSTEM"), findings).empty());
  CHECK(find_logs(link + "/SYSTEM", findings).empty());  // a file is no folder
  CHECK(findings.empty());
  fs::create_symlink("loop", here.path("loop"));
  CHECK(find_logs(here.path("loop/SYSTEM"), findings).empty());
  CHECK(findings.count("folder-unreadable") == 1);
}

TEST_CASE("a path is that of a log where its folder is that of the hive") {
  const fixtures::TemporaryDirectory here;
  const auto hive = here.write("SYSTEM", "x");
  fs::create_directories(here.path("other"));
  CHECK(is_log_path(hive, here.path("system.log1")));
  CHECK(is_log_path(hive, here.path("other/../SYSTEM.LOG")));
  CHECK_FALSE(is_log_path(hive, here.path("other/SYSTEM.LOG1")));
  CHECK_FALSE(is_log_path(hive, here.path("answer.json")));
  CHECK_FALSE(is_log_path(hive, ""));
}
