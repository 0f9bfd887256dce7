#pragma once

#include "coldtrace/core/findings.hpp"
#include "coldtrace/trace_analysis/processors/processor_use.hpp"
#include "coldtrace/trace_analysis/records/observation.hpp"
#include "coldtrace/trace_analysis/requests/disk_io.hpp"
#include "coldtrace/trace_analysis/requests/disk_of_image.hpp"
#include "coldtrace/trace_analysis/requests/file_io.hpp"
#include "coldtrace/trace_analysis/requests/network_io.hpp"
#include "coldtrace/trace_analysis/scheduling/priorities.hpp"
#include "coldtrace/trace_analysis/services/services.hpp"
#include "coldtrace/trace_analysis/waits/deadlocks.hpp"
#include "coldtrace/trace_analysis/waits/inversions.hpp"
#include "coldtrace/tracefile/selection/event_selection.hpp"

namespace coldtrace::trace_analysis {

// What is missing from an answer, and what was left out of it, as findings whose codes are in
// docs/findings.md: by what an analysis counted until the last event. Times are ticks of the trace.
// A complete answer has no findings.

// `no-match`: the trace has nothing to answer from, as `why` says, or no event between the times of
// `limits`. `hint` follows in the sentence: how to log such events.
void note_no_match(const Observed& observed, const tracefile::EventSelection& limits,
                   std::string_view why, std::string_view hint, core::Findings& findings);

// `no-ready-events`: switches alone. `hint` follows in the sentence: how to log them.
void note_ready_events(const Turns::Counts& counts, std::string_view hint,
                       core::Findings& findings);
// `switch-overlap`: switches that contradict each other.
void note_overlaps(const Turns::Counts& counts, core::Findings& findings);
// `switch-chain`, `switch-order` and `record-unreadable`: what an analysis of any kind lacks.
void note_observation(const Observation& observation, core::Findings& findings);
// `function-limit`: addresses in functions beyond those that are kept.
void note_functions(u64 left_out, core::Findings& findings);
// `stacks-cut`: stacks that are not kept completely.
void note_stacks(u64 cut, core::Findings& findings);
// `switch-overlap`, `interrupt-time`, `sample-interval` and `function-limit`.
void note_processor_use(const ProcessorUse& use, const CodeNames& code, core::Findings& findings);
// `interrupt-time` and `call-without-thread`.
void note_services(const Services& services, core::Findings& findings);
// `period-limit`, if costs by period were asked for.
void note_periods(const Services& services, core::Findings& findings);
// `deadlock-limit`, `deadlock-unproved` and `wait-unnamed`.
void note_deadlocks(const Deadlocks& deadlocks, core::Findings& findings);

// Whether any thread has a priority.
[[nodiscard]] bool any_priority(const Priorities& priorities);
// `priority-impossible`, `priority-cut`, `priority-limit`, `inversion-limit` and `wait-unnamed`.
void note_priorities(const Priorities& priorities, const Inversions& inversions,
                     core::Findings& findings);

// `no-match`: processes and threads of a selection for which no event shows a priority.
void note_chosen_priorities(const Priorities& priorities, const Population& population,
                            const tracefile::EventSelection& chosen, core::Findings& findings);

// `request-unmatched`, `request-unknown` and `io-limit`; for disks also `snapshot-without-requests`
// and `snapshot-mismatch`, if a snapshot has names for their requests.
void note_disk_requests(const DiskIo& disk, core::Findings& findings);
void note_disk_requests(const DiskRequests::Counts& counts, core::Findings& findings);
// `snapshot-extent`, and `names-limit` or `snapshot-without-places`: for a snapshot that is read.
void note_disk_map(const DiskMap& map, core::Findings& findings);
// `snapshot-place`: a snapshot of a volume alone does not say where on the disk the volume begins,
// unless an offset was given.
void note_snapshot_place(bool of_whole_disk, bool has_offset, core::Findings& findings);
// `snapshot-without-requests` and `snapshot-mismatch`: for requests that are mapped onto an image.
void note_disk_of_image(const DiskOfImage& image, const DiskIo& requests, core::Findings& findings);
void note_file_requests(const FileIo& files, core::Findings& findings);
void note_network_requests(const NetworkIo& network, core::Findings& findings);

}  // namespace coldtrace::trace_analysis
