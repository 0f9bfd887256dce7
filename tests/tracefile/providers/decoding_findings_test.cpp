#include "coldtrace/tracefile/providers/decoding_findings.hpp"

#include <catch2/catch.hpp>

#include "coldtrace/tracefile/events/sequence_findings.hpp"

using namespace coldtrace;
using namespace coldtrace::tracefile;

TEST_CASE("a decoding that lacks nothing has no findings") {
  core::Findings findings;
  note_cut_names(0, findings);
  note_other_schemas(0, findings);
  note_sealed_fields(0, findings);
  note_unread_buffers(0, findings);
  CHECK(findings.empty());
}

TEST_CASE("names and fields that are lost are warnings with their count, another schema is none") {
  core::Findings findings;
  note_other_schemas(2, findings);
  CHECK_FALSE(findings.has_warnings());
  note_cut_names(3, findings);
  note_sealed_fields(4, findings);
  note_unread_buffers(5, findings);
  REQUIRE(findings.all().size() == 4);
  CHECK(findings.count("schema-other") == 1);
  CHECK(findings.all()[0].text.starts_with("2 events"));
  CHECK(findings.count("resolved-limit") == 1);
  CHECK(findings.all()[1].text.starts_with("resolved names of 3 events"));
  CHECK(findings.count("sealed-field") == 1);
  CHECK(findings.all()[2].text.starts_with("4 encrypted fields"));
  CHECK(findings.count("trace-changed") == 1);
  CHECK(findings.all()[3].text.starts_with("5 buffers"));
  for (std::size_t i = 1; i < 4; ++i) CHECK(findings.all()[i].severity == core::Severity::warning);
}
