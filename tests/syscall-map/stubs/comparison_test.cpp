#include "coldtrace/syscall-map/stubs/comparison.hpp"

#include <map>
#include <random>

#include <catch2/catch.hpp>

namespace coldtrace {
namespace {

using syscall_map::compare_services;
using syscall_map::Service;
using Kind = syscall_map::ServiceChange::Kind;

std::vector<Service> services(const std::vector<std::string>& names) {
  std::vector<Service> made;
  for (std::size_t i = 0; i < names.size(); ++i) {
    Service service;
    service.name = names[i];
    service.number = static_cast<u16>(i);
    made.push_back(std::move(service));
  }
  return made;
}

TEST_CASE("one service inserted is one change and one shift") {
  const auto comparison = compare_services(services({"NtA", "NtB", "NtD", "NtE"}),
                                           services({"NtA", "NtB", "NtC", "NtD", "NtE"}));
  REQUIRE(comparison.changes.size() == 1);
  CHECK(comparison.changes[0].kind == Kind::inserted);
  CHECK(comparison.changes[0].name == "NtC");
  CHECK(comparison.changes[0].after == 2);
  REQUIRE(comparison.shifts.size() == 1);
  CHECK(comparison.shifts[0].first_before == 2);
  CHECK(comparison.shifts[0].last_before == 3);
  CHECK(comparison.shifts[0].distance == 1);
  CHECK(comparison.shifts[0].count == 2);
  CHECK(comparison.renumbered == 2);
}

TEST_CASE("each table is compared by itself") {
  auto before = services({"NtA", "NtB", "NtC"});
  before[2].table = syscall_map::ServiceTable::win32k;
  auto after = before;
  after[1].name = "NtD";
  after[2].number = 7;
  const auto comparison = compare_services(before, after);
  REQUIRE(comparison.changes.size() == 2);
  for (const auto& change : comparison.changes)
    CHECK(change.table == syscall_map::ServiceTable::nt);
  CHECK(comparison.common == 2);
  REQUIRE(comparison.shifts.size() == 1);
  CHECK(comparison.shifts[0].table == syscall_map::ServiceTable::win32k);
  CHECK(comparison.shifts[0].distance == 5);
}

TEST_CASE("Zw and Nt name the same service, and unnamed ones are left aside") {
  CHECK(compare_services(services({"NtA", "ZwB", ""}), services({"ZwA", "NtB", ""})).same());
}

TEST_CASE("a service that changed its place alone has moved") {
  const auto comparison = compare_services(services({"NtA", "NtB", "NtC", "NtD"}),
                                           services({"NtB", "NtC", "NtD", "NtA"}));
  REQUIRE(comparison.changes.size() == 1);
  CHECK(comparison.changes[0].kind == Kind::moved);
  CHECK(comparison.changes[0].name == "NtA");
  REQUIRE(comparison.shifts.size() == 1);
  CHECK(comparison.shifts[0].distance == -1);
}

TEST_CASE("other stack bytes are a change") {
  auto before = services({"NtA"});
  auto after = before;
  before[0].argument_bytes = 8;
  after[0].argument_bytes = 12;
  const auto comparison = compare_services(before, after);
  REQUIRE(comparison.changes.size() == 1);
  CHECK(comparison.changes[0].kind == Kind::changed);
  CHECK(comparison.changes[0].detail == "8 stack bytes became 12");
  after[0].argument_bytes.reset();
  CHECK(compare_services(before, after).same());
}

// Changes and shifts together say what every number of the first image became.
TEST_CASE("the second image follows from the first and the comparison") {
  std::mt19937 random{11};
  for (int round = 0; round < 300; ++round) {
    std::vector<std::string> before, after;
    for (int i = 0; i < 60; ++i) {
      const auto name = "NtName" + std::to_string(i);
      if (random() % 8 != 0) before.push_back(name);
      if (random() % 8 != 0) after.push_back(name);
    }
    for (int swaps = static_cast<int>(random() % 4); swaps > 0 && after.size() > 1; --swaps)
      std::swap(after[random() % after.size()], after[random() % after.size()]);

    const auto comparison = compare_services(services(before), services(after));
    std::map<std::string, u16> derived;
    for (std::size_t i = 0; i < before.size(); ++i) {
      i32 number = static_cast<i32>(i);
      for (const auto& shift : comparison.shifts)
        if (i >= shift.first_before && i <= shift.last_before) number += shift.distance;
      derived[before[i]] = static_cast<u16>(number);
    }
    for (const auto& change : comparison.changes) {
      if (change.kind == Kind::removed) derived.erase(change.name);
      if (change.after) derived[change.name] = *change.after;
    }
    std::map<std::string, u16> expected;
    for (std::size_t i = 0; i < after.size(); ++i) expected[after[i]] = static_cast<u16>(i);
    REQUIRE(derived == expected);
  }
}

TEST_CASE("an image with the headers of another is a copy, or says other things") {
  core::Findings same, other;
  syscall_map::note_copy(services({"NtA", "NtB"}), services({"NtA", "NtB"}), "a.dll", same);
  REQUIRE(same.count("image-twice") == 1);
  CHECK(same.all().front().text == "has the headers and the services of a.dll");
  CHECK_FALSE(same.has_warnings());
  syscall_map::note_copy(services({"NtA", "NtB"}), services({"NtB", "NtA"}), "a.dll", other);
  CHECK(other.count("image-conflict") == 1);
  CHECK(other.has_warnings());
}

}  // namespace
}  // namespace coldtrace
