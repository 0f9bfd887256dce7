#include "coldtrace/nt_trace_control/trace_control_findings.hpp"

#include <catch2/catch.hpp>

using namespace coldtrace;
using namespace coldtrace::tracefile;

namespace {

// The sentence of the only finding.
std::string told(const core::Findings& findings, std::string_view code) {
  REQUIRE(findings.all().size() == 1);
  CHECK(findings.all().front().code.view() == code);
  return findings.all().front().text;
}

}  // namespace

TEST_CASE("a function code that the version has is not a finding") {
  core::Findings findings;
  note_control_code(0x01, std::nullopt, findings);
  note_control_code(0x01, KernelVersion::v6_0, findings);
  note_control_buffer(0x01, KernelVersion::v6_0, findings);
  CHECK(findings.empty());
}

TEST_CASE("a function code of no version and one of later versions are warnings") {
  core::Findings none, asked, later, buffer, no_buffer;
  note_control_code(0x99, std::nullopt, none);
  CHECK(told(none, "control-code") ==
        "NtTraceControl has no function code 0x99: the result is STATUS_INVALID_DEVICE_REQUEST");
  note_control_code(0x99, KernelVersion::v6_1, asked);
  CHECK(told(asked, "control-code").starts_with("version 6.1 has no function code 0x99"));
  // 0x19 came with Windows 8.
  note_control_code(0x19, KernelVersion::v6_1, later);
  CHECK(told(later, "control-code").starts_with("version 6.1 has no function code 0x19"));
  note_control_buffer(0x19, KernelVersion::v6_1, buffer);
  CHECK(told(buffer, "control-code") == "version 6.1 has no function code 0x19");
  note_control_buffer(0x99, KernelVersion::v6_1, no_buffer);
  CHECK(told(no_buffer, "control-code") == "no version has the function code 0x99");
  CHECK(no_buffer.has_warnings());
}

TEST_CASE("a call that fails is a warning, and what other versions check is information") {
  ControlCall call;
  call.code = 0x01;
  call.version = KernelVersion::v10_0;
  call.input_buffer = Argument::invalid;
  call.input_length = 0xb0;
  call.output_length = 0xb0;
  auto expected = expected_status(call);
  REQUIRE(expected.outcome == Outcome::fails);
  core::Findings fails, unstated;
  expected.stated = true;
  note_expected_status(expected, call.version, fails);
  CHECK(
      told(fails, "control-status")
          .starts_with("the call fails with " + statuses_text(expected.statuses) + "; the check"));
  CHECK(fails.has_warnings());
  expected = {};
  note_expected_status(expected, KernelVersion::v6_2, unstated);
  CHECK(told(unstated, "control-unstated").ends_with("not from 6.2"));
  CHECK_FALSE(unstated.has_warnings());
}

TEST_CASE("several statuses are alternatives, and none is not text") {
  CHECK(statuses_text({}).empty());
  const NtStatus two[] = {NtStatus::invalid_parameter, NtStatus::access_denied};
  CHECK(statuses_text(two) ==
        "STATUS_INVALID_PARAMETER (0xc000000d) or STATUS_ACCESS_DENIED (0xc0000022)");
}
