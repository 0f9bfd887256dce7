#include "coldtrace/syscall-map/servicing/module_pairing.hpp"

#include <catch2/catch.hpp>

using namespace coldtrace;
using namespace coldtrace::syscall_map;

namespace {

ServicedModule module_called(std::string name, std::optional<ImageRole> role = {}) {
  ServicedModule module{"/path", "place", {}, role};
  module.identity.name = std::move(name);
  return module;
}

}  // namespace

TEST_CASE("files that are named are one pair, and what they call themselves is told") {
  const auto names_told = [](const ServicedModule& before, const ServicedModule& after) {
    const auto pairs = pair_given(before, after);
    REQUIRE(pairs.pairs.size() == 1);
    CHECK(pairs.pairs.front().before == 0U);
    CHECK(pairs.pairs.front().after == 0U);
    CHECK(pairs.pairs.front().by == PairedBy::given);
    CHECK_FALSE(pairs.findings.has_warnings());
    return pairs.findings.count("servicing-names") == 1;
  };
  CHECK_FALSE(names_told(module_called("a.dll"), module_called("A.DLL")));
  CHECK(names_told(module_called("a.dll"), module_called("b.dll")));
  // A kernel is one whatever it is built as.
  CHECK_FALSE(names_told(module_called("ntoskrnl.exe", ImageRole::kernel),
                         module_called("ntkrnlmp.exe", ImageRole::kernel)));
  CHECK(names_told(module_called("ntoskrnl.exe", ImageRole::kernel),
                   module_called("ntdll.dll", ImageRole::ntdll)));
  CHECK(names_told(module_called("ntoskrnl.exe", ImageRole::kernel), module_called("a.dll")));
}

TEST_CASE("what may be at a place that cannot be read is neither added nor removed") {
  const auto at = [](std::string place) {
    auto module = module_called(place);
    module.place = std::move(place);
    return module;
  };
  const std::vector before{at("a.dll"), at("Drivers/b.sys"), at("c.dll")};
  const std::vector after{at("d.dll"), at("e.dll")};
  auto pairs = pair_modules(before, after);
  REQUIRE(pairs.pairs.size() == 5);
  const std::vector<std::string> unread_before{"E.DLL"},
      unread_after{"A.dll", "drivers", "c.dll.x"};
  leave_out_unread(pairs, before, after, unread_before, unread_after);
  REQUIRE(pairs.pairs.size() == 2);
  CHECK(pairs.pairs[0].before == 2U);
  CHECK(pairs.pairs[1].after == 0U);
}
