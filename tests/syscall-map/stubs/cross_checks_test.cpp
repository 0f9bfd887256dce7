#include "syscall-map/stubs/cross_checks.hpp"

#include <functional>

#include <catch2/catch.hpp>

namespace coldtrace {
namespace {

using syscall_map::Service;
using syscall_map::ServiceMap;

Service service(u16 number, u32 rva, std::string name) {
  Service made;
  made.number = number;
  made.table = syscall_map::table_of(number);
  made.rva = pe::Rva{rva};
  made.name = std::move(name);
  return made;
}

ServiceMap sound_map(u16 first) {
  ServiceMap map;
  for (u16 i = 0; i < 20; ++i)
    map.services.push_back(
        service(static_cast<u16>(first + i), 0x1000 + i * 16U, "NtService" + std::to_string(i)));
  return map;
}

TEST_CASE("services in order at one distance have no findings") {
  auto map = sound_map(GENERATE(as<u16>{}, 0, 0x1000));
  check_services(map);
  CHECK(map.findings.empty());
}

TEST_CASE("each violation has its finding") {
  struct Row {
    const char* why;
    std::function<void(ServiceMap&)> bend;
    const char* code;
    u64 count;
  };
  const auto row = GENERATE(values<Row>({
      {"no service at all", [](ServiceMap& map) { map.services.clear(); }, "no-services", 1},
      {"two neighbours swapped",
       [](ServiceMap& map) { std::swap(map.services[4].number, map.services[5].number); },
       "number-order", 1},
      {"a number twice", [](ServiceMap& map) { map.services[7].number = 6; }, "number-duplicate",
       1},
      {"a number missing", [](ServiceMap& map) { map.services.erase(map.services.begin() + 3); },
       "number-missing", 1},
      {"a number missing at the start",
       [](ServiceMap& map) { map.services.erase(map.services.begin()); }, "number-missing", 1},
      {"a win32k number missing",
       [](ServiceMap& map) {
         map = sound_map(0x1000);
         map.services.erase(map.services.begin() + 3);
       },
       "number-gap", 1},
      {"Zw elsewhere than Nt",
       [](ServiceMap& map) { map.services[9].aliases.push_back("ZwService2"); }, "alias-split", 1},
      {"three stubs out of step",
       [](ServiceMap& map) {
         for (std::size_t i = 5; i < 20; i += 5) {
           for (std::size_t j = i; j < 20; ++j) map.services[j].rva = map.services[j].rva + i;
         }
       },
       "stub-stride", 1},
  }));
  CAPTURE(row.why);
  auto map = sound_map(0);
  row.bend(map);
  check_services(map);
  CHECK(map.findings.count(row.code) == row.count);
}

TEST_CASE("missing numbers are told by their count and the first one") {
  const auto text = [](u16 first, std::ptrdiff_t missing) {
    auto map = sound_map(first);
    map.services.erase(map.services.begin() + 3, map.services.begin() + 3 + missing);
    check_services(map);
    REQUIRE_FALSE(map.findings.empty());
    return map.findings.all().back().text;
  };
  CHECK(text(0, 1) == "1 number below 0x14 has no stub here, the first is 0x3");
  CHECK(text(0, 2) == "2 numbers below 0x14 have no stub here, the first is 0x3");
  CHECK(text(0x1000, 1) == "1 win32k number below 0x1014 has no stub, the first is 0x1003");
  CHECK(text(0x1000, 2) == "2 win32k numbers below 0x1014 have no stub, the first is 0x1003");
}

TEST_CASE("a violation is told with both its sides") {
  auto map = sound_map(0);
  map.services[4].number = 5;
  map.services[5].number = 4;
  map.services[7].number = 6;
  map.services[9].name = "NtOpen";
  map.services[10].aliases = {"ZwOpen"};
  map.services[11].name = "NtAccess";
  map.services[12].aliases = {"ZwEccess"};
  check_services(map);
  std::vector<std::string> texts;
  for (const auto& finding : map.findings.all()) texts.push_back(finding.text);
  CHECK(texts == std::vector<std::string>{
                     "NtService5 at 0x1050 has number 0x4, below 0x5 of NtService4 before it",
                     "1 number below 0x14 has no stub here, the first is 0x7",
                     "number 0x6 belongs to NtService6 at 0x1060 and to NtService7 at 0x1070",
                     "the Nt and Zw names of NtOpen are at 0x1090 and 0x10a0"});
}

}  // namespace
}  // namespace coldtrace
