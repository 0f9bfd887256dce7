#include "coldtrace/trace_export/export_findings.hpp"

#include <type_traits>

#include <catch2/catch.hpp>

#include "coldtrace/trace_export/sampled_threads.hpp"
#include "coldtrace/trace_export/timeline.hpp"
#include "coldtrace/tracefile/opening/any_trace.hpp"

using namespace coldtrace;
using namespace coldtrace::trace_export;

namespace {

template <class Trace>
constexpr bool makes_timeline =
    std::is_constructible_v<Timeline, Trace, const tracefile::EventSelection&,
                            trace_analysis::CodeNames&, TimelineSink&>;
static_assert(makes_timeline<const tracefile::AnyTrace&>);
static_assert(!makes_timeline<tracefile::AnyTrace>);

template <class Trace>
constexpr bool samples_threads =
    std::is_constructible_v<SampledThreads, Trace, trace_analysis::CodeNames&>;
static_assert(samples_threads<const tracefile::AnyTrace&>);
static_assert(!samples_threads<tracefile::AnyTrace>);

}  // namespace

TEST_CASE("an export that is whole has no findings") {
  core::Findings findings;
  note_begun_before(0, findings);
  note_untimed(0, findings);
  note_without_table(0, 1000, findings);
  note_unfit_values(0, findings);
  CHECK(findings.empty());
}

TEST_CASE("what began before a timeline is information") {
  core::Findings begun;
  note_begun_before(3, begun);
  CHECK(begun.count("timeline-start") == 1);
  CHECK(begun.all().front().text.starts_with("3 calls, interrupts and requests began before"));
  CHECK_FALSE(begun.has_warnings());
}

TEST_CASE("one event, value or request is told as one") {
  const auto text = [](auto note) {
    core::Findings findings;
    note(findings);
    REQUIRE(findings.all().size() == 1);
    return findings.all().front().text;
  };
  CHECK(text([](auto& findings) { note_begun_before(1, findings); }) ==
        "1 call, interrupt or request began before the first event, and is left out");
  CHECK(text([](auto& findings) { note_untimed(1, findings); }) ==
        "1 event has no time, which the format requires: it is left out");
  CHECK(text([](auto& findings) { note_without_table(1, 9, findings); }) ==
        "1 event is of a kind beyond the 9 that get a table of their own: its fields are in the "
        "column `more` of the table `event`");
  CHECK(text([](auto& findings) { note_unfit_values(1, findings); }) ==
        "1 value does not fit the column of its field: it is in the column `more` of the "
        "table `event`");
}

TEST_CASE("events that are left out or have no table are warnings, values elsewhere are none") {
  core::Findings untimed, tables, values;
  note_untimed(4, untimed);
  CHECK(untimed.count("export-untimed") == 1);
  CHECK(untimed.all().front().text.starts_with("4 events have no time"));
  CHECK(untimed.has_warnings());
  note_without_table(5, 1000, tables);
  CHECK(tables.count("export-tables") == 1);
  CHECK(tables.all().front().text.starts_with("5 events are of kinds beyond the 1000 that get"));
  CHECK(tables.has_warnings());
  note_unfit_values(6, values);
  CHECK(values.count("export-values") == 1);
  CHECK(values.all().front().text.starts_with("6 values do not fit"));
  CHECK_FALSE(values.has_warnings());
}
