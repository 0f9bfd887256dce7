#include "coldtrace/trace_analysis/findings/answer_findings.hpp"

#include <catch2/catch.hpp>

using namespace coldtrace;
using namespace coldtrace::trace_analysis;

namespace {

// The sentence of the only finding.
std::string told(const core::Findings& findings, std::string_view code) {
  REQUIRE(findings.all().size() == 1);
  CHECK(findings.all().front().code.view() == code);
  return findings.all().front().text;
}

DiskEnd end_of(u64 irp) {
  DiskEnd record{};
  record.moment.time = 1010;
  record.irp = irp;
  record.thread = nobody;
  return record;
}

}  // namespace

TEST_CASE("an answer that is whole has no findings") {
  core::Findings findings;
  note_overlaps({.switches = 3, .readied = 2}, findings);
  note_ready_events({.switches = 3, .readied = 2}, "", findings);
  note_ready_events({}, "", findings);  // no switches: that is for the caller to say
  note_functions(0, findings);
  note_priorities(Priorities{}, Inversions{}, findings);
  note_network_requests(NetworkIo{}, findings);
  CHECK(findings.empty());
}

TEST_CASE("switches that contradict each other are a warning, those alone are information") {
  core::Findings overlaps, alone;
  note_overlaps({.switches = 3, .overlapping = 2}, overlaps);
  CHECK(told(overlaps, "switch-overlap").starts_with("2 switches are from a thread"));
  CHECK(overlaps.has_warnings());
  note_ready_events({.switches = 3}, " (DISPATCHER)", alone);
  CHECK(told(alone, "no-ready-events").find("became ready (DISPATCHER): waiting") !=
        std::string::npos);
  CHECK_FALSE(alone.has_warnings());
}

TEST_CASE("functions beyond those that are kept are counted") {
  core::Findings findings;
  note_functions(7, findings);
  CHECK(told(findings, "function-limit").starts_with("7 addresses of samples"));
}

TEST_CASE("the end of a request of which nothing is known is information") {
  Population population;
  Losses losses;
  const Observed observed{population, losses, 1000, 1010};
  tracefile::NameTables names{0};
  names.finish();
  DiskIo disk{names, std::nullopt, CounterTicks{}};
  disk.begin(observed);
  disk.on_disk_end(end_of(7));
  disk.finish(observed);
  core::Findings findings;
  note_disk_requests(disk, findings);
  CHECK(told(findings, "request-unknown") ==
        "1 request to disks ended without a known start: it began earlier, or its begin event is "
        "lost");
  CHECK_FALSE(findings.has_warnings());
}

TEST_CASE("one thing that is left out is told as one, several as several") {
  core::Findings one, several;
  note_stacks(1, one);
  CHECK(told(one, "stacks-cut") ==
        "1 stack exceeds the depth or number that is kept; its time is with the part that is kept, "
        "or in "
        "[other]");
  note_stacks(2, several);
  CHECK(told(several, "stacks-cut") ==
        "2 stacks exceed the depth or number that is kept; their time is with the part that is "
        "kept, or in "
        "[other]");
}

TEST_CASE("priorities that no thread can have are a warning, and what waits are for is missing") {
  Population population;
  Losses losses;
  const Observed observed{population, losses, 1000, 1010};
  Priorities priorities;
  priorities.begin(observed);
  const auto thread = population.thread(8);
  const Moment moment{1000, u16{0}, {}};
  using Kind = PriorityChange::Kind;
  priorities.on_priority_change({moment, Kind::priority, thread, nobody, i8{8}, i8{32}});
  priorities.on_priority_change({moment, Kind::priority, thread, nobody, i8{8}, i8{9}});
  priorities.finish(observed);
  core::Findings findings;
  note_priorities(priorities, Inversions{}, findings);
  CHECK(findings.count("priority-impossible") == 1);
  CHECK(findings.count("wait-unnamed") == (any_priority(priorities) ? 1 : 0));
}

TEST_CASE("a trace that has nothing of the kind says why, or that no event is in the interval") {
  Population population;
  Losses losses;
  const Observed some{population, losses, 1000, 1010, 3}, none{population, losses, {}, {}, 0};
  tracefile::EventSelection all, limited;
  limited.from = core::FileTime{1};
  core::Findings whole, within, nothing;
  note_no_match(some, all, "the trace has no samples", " (PROFILE)", whole);
  CHECK(told(whole, "no-match") == "the trace has no samples (PROFILE)");
  CHECK(whole.has_warnings());
  note_no_match(some, limited, "the trace has no samples", "", within);
  CHECK(told(within, "no-match") == "the trace has no samples between --from and --to");
  note_no_match(none, limited, "the trace has no samples", "", nothing);
  CHECK(told(nothing, "no-match") == "no event of the trace is between --from and --to");
}

TEST_CASE("a thread without a priority is told, unless no process is the one that it is to be of") {
  Population population;
  Losses losses;
  const Observed observed{population, losses, 1000, 1010};
  Priorities priorities;
  priorities.begin(observed);
  const auto thread = population.thread(8);
  const Moment moment{1000, u16{0}, {}};
  using Kind = PriorityChange::Kind;
  priorities.on_priority_change({moment, Kind::priority, thread, nobody, i8{8}, i8{9}});
  priorities.finish(observed);
  tracefile::EventSelection known, other, of_process;
  known.tids = {8};
  other.tids = {9};
  of_process.tids = {9};
  of_process.processes = {"a.exe"};
  core::Findings of_known, of_other, of_nothing;
  note_chosen_priorities(priorities, population, known, of_known);
  CHECK(of_known.empty());
  note_chosen_priorities(priorities, population, other, of_other);
  CHECK(told(of_other, "no-match") == "no event shows the priority of a thread 9");
  note_chosen_priorities(priorities, population, of_process, of_nothing);
  CHECK(told(of_nothing, "no-match").find("a.exe") != std::string::npos);
}

TEST_CASE("a snapshot of a volume alone does not say where on the disk it begins") {
  core::Findings of_disk, with_offset, of_volume;
  note_snapshot_place(true, false, of_disk);
  CHECK(of_disk.empty());
  note_snapshot_place(false, true, with_offset);
  CHECK(with_offset.empty());
  note_snapshot_place(false, false, of_volume);
  CHECK(told(of_volume, "snapshot-place").starts_with("the snapshot is of a volume alone"));
  CHECK_FALSE(of_volume.has_warnings());
}
