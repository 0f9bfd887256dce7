#include "coldtrace/syscall-map/servicing/api_set_comparison.hpp"

#include <catch2/catch.hpp>

using namespace coldtrace;
using namespace coldtrace::syscall_map;

namespace {

pe::ApiSet set(std::string name, std::string dll) {
  return {std::move(name), {{"", std::move(dll)}}};
}

}  // namespace

TEST_CASE("API sets are added, removed, or lead to other DLLs, and are told by name") {
  const pe::ApiSetSchema before{
      6, {set("api-b", "one.dll"), set("api-d", "old.dll"), set("api-e", "kernel32.dll")}};
  const pe::ApiSetSchema after{
      6, {set("api-a", "new.dll"), set("api-b", "two.dll"), set("api-e", "kernel32.dll")}};
  const auto compared = compare_api_sets(&before, &after);
  CHECK(compared.comparable);
  CHECK(compared.before == 3);
  CHECK(compared.after == 3);
  CHECK(compared.added == 1);
  CHECK(compared.removed == 1);
  CHECK(compared.changed == 1);
  REQUIRE(compared.changes.size() == 3);
  CHECK(compared.changes[0].name == "api-a");
  CHECK_FALSE(compared.changes[0].before);
  CHECK(compared.changes[1].name == "api-b");
  CHECK(compared.changes[1].before->front().dll == "one.dll");
  CHECK(compared.changes[1].after->front().dll == "two.dll");
  CHECK(compared.changes[2].name == "api-d");
  CHECK_FALSE(compared.changes[2].after);
  CHECK_FALSE(compared.same());
}

TEST_CASE("a set changes with any of its hosts: importer, DLL, number, order") {
  struct Row {
    const char* why;
    std::vector<pe::ApiSetHost> hosts;
    bool changes;
  };
  const auto row = GENERATE(values<Row>({
      {"the same", {{"", "a.dll"}, {"x.dll", "b.dll"}}, false},
      {"another DLL for one importer", {{"", "a.dll"}, {"x.dll", "c.dll"}}, true},
      {"another importer", {{"", "a.dll"}, {"y.dll", "b.dll"}}, true},
      {"one less", {{"", "a.dll"}}, true},
      {"another default", {{"x.dll", "b.dll"}, {"", "a.dll"}}, true},
      {"none", {}, true},
  }));
  CAPTURE(row.why);
  const pe::ApiSetSchema before{6, {{"api-a", {{"", "a.dll"}, {"x.dll", "b.dll"}}}}};
  const pe::ApiSetSchema after{6, {{"api-a", row.hosts}}};
  const auto compared = compare_api_sets(&before, &after);
  CHECK(compared.changed == (row.changes ? 1 : 0));
  CHECK(compared.same() != row.changes);
}

TEST_CASE("schemas whose names mean different things are not paired") {
  struct Row {
    u32 before, after;
    bool comparable;
  };
  // Version 6 has whole names, 2 and 4 have no prefix.
  const auto row = GENERATE(
      values<Row>({{2, 4, true}, {4, 6, false}, {6, 2, false}, {6, 6, true}, {6, 7, true}}));
  CAPTURE(row.before, row.after);
  const pe::ApiSetSchema before{row.before, {set("a", "a.dll")}};
  const pe::ApiSetSchema after{row.after, {set("b", "b.dll")}};
  const auto compared = compare_api_sets(&before, &after);
  CHECK(compared.comparable == row.comparable);
  CHECK(compared.before == 1);
  CHECK(compared.after == 1);
  CHECK(compared.changes.size() == (row.comparable ? 2 : 0));
  CHECK(compared.same() == false);
}

TEST_CASE("a schema that only one system has is added or removed whole") {
  const pe::ApiSetSchema schema{6, {set("api-a", "a.dll"), set("api-b", "b.dll")}};
  const auto added = compare_api_sets(nullptr, &schema);
  CHECK_FALSE(added.version_before);
  CHECK(added.version_after == 6U);
  CHECK(added.added == 2);
  CHECK(compare_api_sets(&schema, nullptr).removed == 2);
  CHECK(compare_api_sets(nullptr, nullptr).same());
}

TEST_CASE("of sets with one name the first counts, as the loader uses it") {
  const pe::ApiSetSchema twice{6, {set("api-a", "first.dll"), set("api-a", "second.dll")}};
  const pe::ApiSetSchema once{6, {set("api-a", "first.dll")}};
  const auto compared = compare_api_sets(&twice, &once);
  CHECK(compared.before == 1);
  CHECK(compared.same());
}
