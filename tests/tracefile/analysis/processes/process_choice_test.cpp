#include "coldtrace/trace_analysis/processes/process_choice.hpp"

#include <catch2/catch.hpp>

using namespace coldtrace;
using namespace coldtrace::trace_analysis;

TEST_CASE("processes are meant by id, name or glob, and what none is, is told once") {
  Population population;
  const auto first = population.start_process(4711, 0, {});
  const auto second = population.start_process(8, 0, {});
  population.at_process(first).image_name = "notepad.exe";
  population.at_process(second).image_name = "svchost.exe";
  core::Findings all, one, none;
  CHECK(find_processes(population, {"4711", "svc*"}, all) == std::vector{first, second});
  CHECK(all.empty());
  CHECK(find_processes(population, {"NOTEPAD.exe", "note.exe"}, one) == std::vector{first});
  REQUIRE(one.count("no-match") == 1);
  CHECK(one.all().front().text.find("note.exe") != std::string::npos);
  CHECK(one.all().front().text.find("notepad.exe") != std::string::npos);
  CHECK(find_processes(population, {}, none).empty());
  CHECK(none.empty());
}
