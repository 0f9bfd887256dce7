#include "coldtrace/trace_analysis/findings/answer_findings.hpp"

#include <algorithm>
#include <initializer_list>

#include <fmt/format.h>

#include "coldtrace/core/text.hpp"
#include "coldtrace/trace_analysis/processes/chosen_threads.hpp"
#include "coldtrace/trace_analysis/processes/process_choice.hpp"

namespace coldtrace::trace_analysis {

void note_no_match(const Observed& observed, const tracefile::EventSelection& limits,
                   std::string_view why, std::string_view hint, core::Findings& findings) {
  if (limits.by_time() && observed.events == 0)
    findings.warning("no-match", std::nullopt, "no event of the trace is between --from and --to");
  else
    findings.warning("no-match", std::nullopt, "{}{}{}", why, hint,
                     limits.by_time() ? " between --from and --to" : "");
}

void note_ready_events(const Turns::Counts& counts, std::string_view hint,
                       core::Findings& findings) {
  if (counts.switches > 0 && counts.readied == 0)
    findings.info(
        "no-ready-events", std::nullopt,
        "no event says when threads became ready{}: waiting and ready cannot be told apart", hint);
}

void note_overlaps(const Turns::Counts& counts, core::Findings& findings) {
  if (counts.overlapping > 0)
    findings.warning("switch-overlap", std::nullopt,
                     "{} from a thread that is on another processor",
                     core::counted(counts.overlapping, "switch is", "switches are"));
}

void note_observation(const Observation& observation, core::Findings& findings) {
  if (const auto broken = observation.losses().broken_chains(); broken > 0)
    findings.warning("switch-chain", std::nullopt,
                     "{} processor was not running: events are missing",
                     core::counted(broken, "switch is from a thread that its",
                                   "switches are from a thread that their"));
  if (const auto backward = observation.losses().backward_switches(); backward > 0)
    findings.warning(
        "switch-order", std::nullopt, "{} is unknown",
        core::counted(
            backward, "switch is out of time order on its processor: which thread ran around it",
            "switches are out of time order on their processor: which threads ran around them"));
  if (const auto unreadable = observation.observed().unreadable; unreadable > 0)
    findings.warning("record-unreadable", std::nullopt, "{} the fields that matter",
                     core::counted(unreadable, "event that an analysis needs lacks",
                                   "events that an analysis needs lack"));
}

void note_stacks(u64 cut, core::Findings& findings) {
  if (cut > 0)
    findings.warning("stacks-cut", std::nullopt,
                     "{} time is with the part that is kept, or in [other]",
                     core::counted(cut, "stack exceeds the depth or number that is kept; its",
                                   "stacks exceed the depth or number that is kept; their"));
}

void note_functions(u64 left_out, core::Findings& findings) {
  if (left_out > 0)
    findings.warning(
        "function-limit", std::nullopt, "{} counted as others",
        core::counted(left_out,
                      "address of samples, interrupts and stacks is in a function beyond "
                      "those that are kept, and is",
                      "addresses of samples, interrupts and stacks are in functions beyond "
                      "those that are kept, and are"));
}

namespace {

void note_interrupts(u64 contradictory, core::Findings& findings) {
  if (contradictory > 0)
    findings.warning(
        "interrupt-time", std::nullopt, "{} took is unknown",
        core::counted(contradictory,
                      "interrupt began before the last switch of its processor: how long it",
                      "interrupts began before the last switch of their processor: how long "
                      "they"));
}

}  // namespace

void note_processor_use(const ProcessorUse& use, const CodeNames& code, core::Findings& findings) {
  note_overlaps(use.schedule().turns().counts(), findings);
  note_interrupts(use.contradictory_interrupts(), findings);
  if (const auto firsts = use.total().all.firsts; firsts > 0)
    findings.info(
        "sample-interval", std::nullopt, "{} no time",
        core::counted(firsts,
                      "sample is the first of its processor, and no event gives the sampling "
                      "interval: it has",
                      "samples are the first of their processor, and no event gives the "
                      "sampling interval: they have"));
  note_functions(code.left_out() + use.counts().left_out_routines, findings);
}

void note_services(const Services& services, core::Findings& findings) {
  note_interrupts(services.contradictory_interrupts(), findings);
  if (services.without_thread() > 0)
    findings.info("call-without-thread", std::nullopt, "{} that no context switch names",
                  core::counted(services.without_thread(), "call or return is in a thread",
                                "calls and returns are in threads"));
}

void note_periods(const Services& services, core::Findings& findings) {
  if (const auto left_out = services.totals().left_out(); left_out > 0)
    findings.warning(
        "period-limit", std::nullopt, "{} missing from `periods`",
        core::counted(left_out,
                      "call or return belongs to a period or service beyond those that are "
                      "kept, and is",
                      "calls and returns belong to periods and services beyond those that "
                      "are kept, and are"));
}

void note_deadlocks(const Deadlocks& deadlocks, core::Findings& findings) {
  if (deadlocks.reached_limit())
    findings.warning("deadlock-limit", std::nullopt,
                     "the trace has more objects, orders of mutants, deadlocks or threads waiting "
                     "behind each other than are examined: some may be missing");
  if (deadlocks.passing() > 0)
    findings.info(
        "deadlock-unproved", std::nullopt, "{} not listed",
        core::counted(deadlocks.passing(),
                      "cycle of waits was gone before each of its threads was seen to leave "
                      "its processor, and is",
                      "cycles of waits were gone before each of their threads was seen to "
                      "leave its processor, and are"));
  if (!deadlocks.names_objects() && deadlocks.any_switch())
    findings.info("wait-unnamed", std::nullopt,
                  "the trace does not name what threads waited for: deadlocks cannot be proved");
}

bool any_priority(const Priorities& priorities) {
  return std::ranges::any_of(priorities.threads(),
                             [](const auto& thread) { return thread.first.has_value(); });
}

void note_priorities(const Priorities& priorities, const Inversions& inversions,
                     core::Findings& findings) {
  if (priorities.impossible() > 0)
    findings.warning("priority-impossible", std::nullopt,
                     "{} a priority that no thread can have (0 to 31)",
                     core::counted(priorities.impossible(), "event has", "events have"));
  if (const auto left_out = priorities.more_steps(); left_out > 0)
    findings.info("priority-cut", std::nullopt, "{}",
                  core::counted(left_out, "priority change is not listed; --format csv has it",
                                "priority changes are not listed; --format csv has them"));
  if (const auto left_out = priorities.changes_left_out(); left_out > 0)
    findings.warning(
        "priority-limit", std::nullopt,
        "{} beyond the {} that are kept between two switches "
        "of a thread: its priority is unknown from there to the next switch",
        core::counted(left_out, "event changes priorities", "events change priorities"),
        Priorities::most_pending);
  if (inversions.left_out() > 0 || inversions.stretches_cut() > 0)
    findings.warning("inversion-limit", std::nullopt,
                     "the trace has more inversions, objects, or turns while a thread was ready "
                     "than are examined: some may be missing, or have lasted longer");
  if (any_priority(priorities) && !inversions.names_objects())
    findings.info("wait-unnamed", std::nullopt,
                  "the trace does not name what threads waited for: inversions cannot be proved");
}

void note_chosen_priorities(const Priorities& priorities, const Population& population,
                            const tracefile::EventSelection& chosen, core::Findings& findings) {
  if (!chosen.processes.empty() && find_processes(population, chosen.processes, findings).empty())
    return;
  if (chosen.tids.empty()) return;
  const ChosenThreads threads{chosen};
  for (Index i = 0; i < priorities.threads().size(); ++i)
    if (priorities.threads()[i].first && threads.has(population, i)) return;
  findings.warning("no-match", std::nullopt, "no event shows the priority of a thread {}{}",
                   fmt::join(chosen.tids, ", "),
                   chosen.processes.empty() ? "" : " of these processes");
}

namespace {

// What an analysis has left out.
struct LeftOut {
  u64 count;
  std::string_view one, several;
};

void note_limits(std::initializer_list<LeftOut> limits, core::Findings& findings) {
  std::string text;
  for (const auto& [count, one, several] : limits) {
    if (count == 0) continue;
    text += (text.empty() ? "" : ", and ") + core::counted(count, one, several);
  }
  if (!text.empty())
    findings.warning("io-limit", std::nullopt, "more than can be kept; left out: {}", text);
}

void note_missing(u64 ends, u64 begins, std::string_view what, core::Findings& findings) {
  if (ends > 0)
    findings.warning("request-unmatched", std::nullopt, "the {} to {} {} missing",
                     ends == 1 ? "end of 1 request" : fmt::format("ends of {} requests", ends),
                     what, ends == 1 ? "is" : "are");
  if (begins > 0)
    findings.info("request-unknown", std::nullopt,
                  "{} to {} ended without a known start: {} begin event is lost",
                  core::counted(begins, "request", "requests"), what,
                  begins == 1 ? "it began earlier, or its" : "they began earlier, or their");
}

}  // namespace

void note_disk_requests(const DiskRequests::Counts& counts, core::Findings& findings) {
  note_missing(counts.lost_ends + counts.contradictory, counts.lone_ends, "disks", findings);
  note_limits({{counts.left_out, "begin of a request to a disk", "begins of requests to disks"}},
              findings);
}

void note_disk_requests(const DiskIo& disk, core::Findings& findings) {
  const auto& counts = disk.requests().counts();
  note_missing(counts.lost_ends + counts.contradictory, counts.lone_ends, "disks", findings);
  u64 cut = 0;
  for (const auto& [number, one] : disk.disks()) cut += one.busy.cut();
  note_limits({{counts.left_out, "begin of a request to a disk", "begins of requests to disks"},
               {disk.files().left_out(), "file name of a request", "file names of requests"},
               {disk.to_other_disks(), "request to another disk", "requests to other disks"},
               {cut, "request's share of its disk's busy time",
                "requests' shares of their disks' busy time"}},
              findings);
  if (disk.has_snapshot_of_other_disk())
    findings.warning("snapshot-without-requests", std::nullopt,
                     "the trace has no requests to the disk of the snapshot (--snapshot-disk)");
  const auto& agreement = disk.agreement();
  if (agreement.unlike > agreement.alike)
    findings.warning("snapshot-mismatch", std::nullopt,
                     "the snapshot and the trace name different files for {}, and the same for {}: "
                     "the snapshot is "
                     "of another disk, or begins elsewhere (--snapshot-offset)",
                     core::counted(agreement.unlike, "request", "requests"), agreement.alike);
}

void note_disk_map(const DiskMap& map, core::Findings& findings) {
  if (const auto impossible = map.impossible(); impossible > 0)
    findings.warning(
        "snapshot-extent", std::nullopt, "{} nothing",
        core::counted(impossible,
                      "extent of the snapshot is empty or ends beyond 2^64 bytes, and names",
                      "extents of the snapshot are empty or end beyond 2^64 bytes, and name"));
  if (const auto left_out = map.left_out(); left_out > 0)
    findings.warning("names-limit", std::nullopt, "{} left out (--names-limit)",
                     core::counted(left_out, "file or extent of the snapshot is",
                                   "files and extents of the snapshot are"));
  else if (map.extents() == 0)
    findings.warning(
        "snapshot-without-places", std::nullopt,
        "the snapshot does not say where any file lies on the disk, and names nothing");
}

void note_snapshot_place(bool of_whole_disk, bool has_offset, core::Findings& findings) {
  if (!of_whole_disk && !has_offset)
    findings.info(
        "snapshot-place", std::nullopt,
        "the snapshot is of a volume alone, which is assumed to begin at the start of the "
        "disk (--snapshot-offset)");
}

void note_disk_of_image(const DiskOfImage& image, const DiskIo& requests,
                        core::Findings& findings) {
  if (requests.disks().empty())
    findings.warning(
        "snapshot-without-requests", std::nullopt,
        "the trace has no requests to any disk: there is nothing to show on the volumes");
  if (const auto behind = image.behind_end(); behind > 0)
    findings.warning(
        "snapshot-mismatch", std::nullopt,
        "{} of the requests to disk {} {} beyond the end of the image's disk: the image is "
        "of another disk (--snapshot-disk), begins elsewhere (--snapshot-offset) or is "
        "cut off",
        behind, image.disk(), behind == 1 ? "lies" : "lie");
}

void note_file_requests(const FileIo& files, core::Findings& findings) {
  note_missing(files.lost_ends(), files.lone_ends(), "file systems", findings);
  note_limits(
      {{files.left_out(), "begin of a request to a file system",
        "begins of requests to file systems"},
       {files.files().left_out(), "file name of an operation", "file names of operations"},
       {files.unnamed(), "name of a file that was opened", "names of files that were opened"}},
      findings);
}

void note_network_requests(const NetworkIo& network, core::Findings& findings) {
  note_missing(network.lost_ends(), network.lone_ends(), "the network", findings);
  note_limits({{network.left_out(), "address of a transfer", "addresses of transfers"}}, findings);
}

}  // namespace coldtrace::trace_analysis
