#include "coldtrace/syscall-map/hook_points.hpp"

#include <catch2/catch.hpp>

using namespace coldtrace;
using namespace coldtrace::syscall_map;

TEST_CASE("each row of a service table is a site of its own, as wide as the table's form") {
  LocatedServiceTable wide;
  wide.rva = pe::Rva{0x1000};
  wide.form = TableForm::va64;
  wide.entries.resize(2);
  LocatedServiceTable narrow;
  narrow.rva = pe::Rva{0x3000};
  narrow.form = TableForm::rva32;
  narrow.entries.resize(3);
  HookPoints points;
  points.tables = {wide, narrow, {}};
  const auto sites = service_row_sites(points);
  REQUIRE(sites.size() == 5);
  CHECK(sites[0].rva == pe::Rva{0x1000});
  CHECK(sites[1].rva == pe::Rva{0x1008});
  CHECK(sites[1].size == 8);
  CHECK(sites[2].rva == pe::Rva{0x3000});
  CHECK(sites[4].rva == pe::Rva{0x3008});
  CHECK(sites[4].size == 4);
  for (const auto& site : sites) CHECK(site.rule == pe::PatchRule::service_row);
}

TEST_CASE("an image without a place of a tracer's is warned of") {
  core::Findings of_none, of_one;
  note_no_points({}, of_none);
  CHECK(of_none.count("no-services") == 1);
  CHECK(of_none.has_warnings());
  HookPoints points;
  points.points.push_back({HookPointKind::context_switch, "SwapContext", pe::Rva{0x1000}, {}});
  note_no_points(points, of_one);
  CHECK(of_one.empty());
}
