#include "coldtrace/syscall-map/trace-points/trace_driver.hpp"

#include <catch2/catch.hpp>

#include "fixtures/builders/pe_image.hpp"
#include "fixtures/builders/value_of.hpp"

namespace coldtrace {
namespace {

using namespace syscall_map;

TEST_CASE("a driver is called back when it is linked for that and for the kernel's machine") {
  struct Row {
    bool integrity_check;
    pe::Machine kernel;
  };
  const auto row = GENERATE(values<Row>({{true, pe::Machine::amd64},
                                         {false, pe::Machine::amd64},
                                         {true, pe::Machine::arm64},
                                         {false, pe::Machine::arm64}}));
  auto bytes = fixtures::build_pe({}).bytes;
  core::Findings odd;
  // DllCharacteristics lies 70 bytes into the optional header.
  const auto header = fixtures::value_of(pe::Image::open(bytes, pe::Layout::file, odd))
                          .dos_header()
                          .new_header_offset;
  if (row.integrity_check) bytes[header + 24 + 70] |= std::byte{0x80};
  const auto image = pe::Image::open(bytes, pe::Layout::file, odd);
  REQUIRE(image);
  REQUIRE(image->machine() == pe::Machine::amd64);
  core::Findings findings;
  const auto check = check_trace_driver(*image, row.kernel, findings);
  CHECK(check.integrity_check == row.integrity_check);
  CHECK(check.same_machine == (row.kernel == pe::Machine::amd64));
  CHECK(findings.count("trace-driver-integrity") == (row.integrity_check ? 0 : 1));
  CHECK(findings.count("trace-driver-machine") == (check.same_machine ? 0 : 1));
}

TEST_CASE("interfaces that set trace points are chosen from the others") {
  std::vector<SupportedInterface> all;
  for (const auto* const name :
       {"KeSetTracepoint", "PsSetCreateProcessNotifyRoutine", "TraceInitSystem",
        "EtwRegisterEventCallback", "KeSetSystemServiceCallback"})
    all.push_back({name, {}, false, false, {}, {}});
  const auto chosen = select_trace_interfaces(std::move(all));
  REQUIRE(chosen.size() == 4);
  CHECK(chosen[0].name == "KeSetTracepoint");
  CHECK(chosen[1].name == "TraceInitSystem");
}

TEST_CASE("that a kernel has no trace points is told, that nothing is known is not") {
  core::Findings findings;
  note_absence({TraceFacilityState::unknown, {"no version"}, false}, findings);
  note_absence({TraceFacilityState::present, {"it exports them"}, true}, findings);
  CHECK(findings.empty());
  note_absence({TraceFacilityState::absent, {"it is of 1803"}, false}, findings);
  REQUIRE(findings.count("trace-facility-absent") == 1);
  CHECK(findings.all().front().text.ends_with(": it is of 1803"));
}

}  // namespace
}  // namespace coldtrace
