#include "coldtrace/trace_export/export_findings.hpp"

#include <catch2/catch.hpp>

using namespace coldtrace;
using namespace coldtrace::trace_export;

TEST_CASE("an export that is whole has no findings") {
  core::Findings findings;
  note_begun_before(0, findings);
  note_samples(0, findings);
  CHECK(findings.empty());
}

TEST_CASE("what began before a timeline is information, samples without room are a warning") {
  core::Findings begun, samples;
  note_begun_before(3, begun);
  CHECK(begun.count("timeline-start") == 1);
  CHECK(begun.all().front().text.starts_with("3 calls, interrupts and requests began before"));
  CHECK_FALSE(begun.has_warnings());
  note_samples(4, samples);
  CHECK(samples.count("export-limit") == 1);
  CHECK(samples.all().front().text.starts_with("4 samples are beyond"));
  CHECK(samples.has_warnings());
}
