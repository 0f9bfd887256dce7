// Kernels that are cut or damaged: every request gets an answer, and what is called eligible is an
// instruction that the file stores in an executable section.

#include <random>

#include <catch2/catch.hpp>

#include "coldtrace/core/file.hpp"
#include "coldtrace/syscall-map/trace-points/trace_facility.hpp"
#include "coldtrace/syscall-map/trace-points/trace_planner.hpp"

namespace coldtrace {
namespace {

using namespace syscall_map;

std::vector<std::byte> load(const std::string& id) {
  auto bytes = core::read_whole_file(
      std::string{COLDTRACE_TEST_IMAGES "/trace-"} + id + "/ntoskrnl.exe", 1 << 20);
  if (!bytes) WARN("skipped: no compiler built trace-" << id);
  return bytes ? std::move(*bytes) : std::vector<std::byte>{};
}

const std::vector<HookService> no_services;
const std::vector<std::string> requests{"NtOpenThing", "ZwOpenThing", "NtParted+8", "0x1004",
                                        "0x1013",      "0x1016",      "0x1068",     "NtStart",
                                        "NtElsewhere", "NtBreak",     "0xffffffff", "NtShadow"};

// Whether these bytes are an image.
bool plan(core::ByteView file, pe::Layout layout) {
  // Exactly its size, so that a sanitizer sees a read behind.
  const std::vector<std::byte> bytes{file.begin(), file.end()};
  core::Findings findings;
  const auto image = pe::Image::open(bytes, layout, findings);
  if (!image) return false;
  const std::vector<NamedPlace> symbols{{"_NtParted", pe::Rva{0x1060}}};
  const auto points = plan_trace_points(*image, requests, {symbols, no_services}, findings);
  REQUIRE(points.size() == requests.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto& point = points[i];
    REQUIRE(point.requested == requests[i]);
    for (const auto& refusal : point.refusals) REQUIRE_FALSE(refusal.text.empty());
    if (!point.eligible()) continue;
    REQUIRE(point.rva);
    REQUIRE(point.file_offset);
    REQUIRE(image->is_executable(*point.rva));
    REQUIRE_FALSE(point.bytes.empty());
    REQUIRE(point.boundary != BoundaryState::refuted);
    REQUIRE(std::to_integer<u8>(bytes[*point.file_offset]) == point.bytes.front());
    for (std::size_t j = 0; j < i; ++j)
      REQUIRE((!points[j].eligible() || points[j].rva != point.rva));
  }
  REQUIRE_FALSE(find_trace_facility(*image, find_supported_interfaces(*image, findings), symbols)
                    .evidence.empty());
  return true;
}

TEST_CASE("a place of many names has each once, up to a number that is said") {
  const auto bytes = load("points-x64");
  if (bytes.empty()) return;
  core::Findings findings;
  const auto image = pe::Image::open(bytes, pe::Layout::file, findings);
  REQUIRE(image);
  const auto count = GENERATE(256U, 257U, 60'000U);
  std::vector<NamedPlace> symbols;
  for (unsigned i = 0; i < count; ++i)
    for (int twice = 0; twice < 2; ++twice)
      symbols.push_back({"Folded" + std::to_string(i), pe::Rva{0x1061}});
  const auto points = plan_trace_points(*image, {{"0x1061"}}, {symbols, no_services}, findings);
  REQUIRE(points.size() == 1);
  REQUIRE(points[0].names.size() == 256);
  for (std::size_t i = 0; i < 256; ++i) CHECK(points[0].names[i] == "Folded" + std::to_string(i));
  CHECK(findings.count("trace-names-limit") == (count > 256 ? 1 : 0));
}

TEST_CASE("every truncation of a kernel gets a plan") {
  const auto bytes = load(GENERATE("points-x64", "points-x86"));
  if (bytes.empty()) return;
  std::size_t opened = 0;
  for (std::size_t size = 0; size < bytes.size(); size += 3)
    for (const auto layout : {pe::Layout::file, pe::Layout::memory})
      opened += plan(core::ByteView{bytes}.first(size), layout);
  CHECK(opened > 1000);
}

TEST_CASE("kernels with random bytes get a plan") {
  auto bytes = load(GENERATE("points-x64", "points-x86"));
  if (bytes.empty()) return;
  std::size_t opened = 0;
  std::mt19937 random{19};
  for (u32 round = 0; round < 1000; ++round) {
    auto bent = bytes;
    for (u32 i = 0; i < 1 + round % 24; ++i)
      bent[random() % bent.size()] = static_cast<std::byte>(random());
    opened += plan(bent, pe::Layout::file);
  }
  CHECK(opened > 500);
}

TEST_CASE("what can be asked for is a name, a name with an offset, or a number of 32 bits") {
  for (const auto* text : {"NtClose", "NtClose+1", "NtClose+0x10", "0x1234", "4660", "0xffffffff",
                           "?f@@YAXXZ", "a+b", "+1"})
    CHECK(is_trace_request(text));
  for (const auto* text : {"", "0x", "0x100000000", "12a", "0x12g", "NtClose+0x", "NtClose+1z"})
    CHECK_FALSE(is_trace_request(text));
}

}  // namespace
}  // namespace coldtrace
