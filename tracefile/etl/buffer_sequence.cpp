#include "tracefile/etl/buffer_sequence.hpp"

#include <algorithm>
#include <optional>

#include "coldtrace/core/text.hpp"

namespace coldtrace::tracefile {
namespace {

// Sessions that keep the last buffers only, and those that start a new file while they run.
// Source: evntrace.h, EVENT_TRACE_FILE_MODE_CIRCULAR, EVENT_TRACE_BUFFERING_MODE, _NEWFILE.
constexpr u32 keeps_the_last = LogfileHeader::circular | 0x400;
constexpr u32 starts_new_files = 0x8;

// Numbers that a session of as many buffers cannot have come to. Where it has lost some, or the
// header counts none, there may be more than the file has, but not out of all proportion.
i64 first_unbelievable(const BufferScan& scan) {
  const auto known =
      std::max<u64>(scan.header.buffers_written, scan.buffers.size()) + scan.header.buffers_lost;
  return static_cast<i64>(2 * known + 1024);
}

using Buffers = std::vector<const BufferEntry*>;

// Takes out those with negative numbers; returns how many.
std::ptrdiff_t drop_negative(Buffers& buffers, core::Findings& findings) {
  const auto first = std::find_if(buffers.begin(), buffers.end(),
                                  [](const BufferEntry* buffer) { return buffer->sequence >= 0; });
  for (auto at = buffers.begin(); at != first; ++at)
    findings.warning("buffer-sequence", (*at)->offset, "the buffer number {} is negative",
                     (*at)->sequence);
  const auto dropped = first - buffers.begin();
  buffers.erase(buffers.begin(), first);
  return dropped;
}

// Takes out those whose number another one has, where as many numbers are missing, so that each of
// them had one of these; returns how many. Nothing where the numbers say nothing.
std::optional<std::ptrdiff_t> drop_repeated(Buffers& buffers, core::Findings& findings) {
  Buffers unique, repeated;
  for (const auto* const buffer : buffers)
    (unique.empty() || unique.back()->sequence != buffer->sequence ? unique : repeated)
        .push_back(buffer);
  if (repeated.empty()) return 0;
  const auto missing = unique.back()->sequence + 1 - static_cast<i64>(unique.size());
  if (missing != static_cast<i64>(repeated.size())) return std::nullopt;
  for (const auto* const buffer : repeated)
    findings.warning("buffer-sequence", buffer->offset,
                     "the buffer number {} is used more than once, and another is missing",
                     buffer->sequence);
  buffers = std::move(unique);
  return static_cast<std::ptrdiff_t>(repeated.size());
}

// Whether a session that keeps its last buffers can have overwritten others, of which `last` has
// the greatest number: a circular file begins again where it has its full size. Source: evntrace.h,
// EVENT_TRACE_FILE_MODE_CIRCULAR, EVENT_TRACE_USE_KBYTES_FOR_SIZE; MaximumFileSize is else in MiB.
bool may_overwrite(const LogfileHeader& header, i64 last) {
  constexpr u32 in_kib = 0x2000;
  if ((header.log_file_mode & keeps_the_last) == 0) return false;
  if ((header.log_file_mode & LogfileHeader::circular) == 0 || header.maximum_file_size == 0)
    return true;
  const auto most = u64{header.maximum_file_size}
                    << ((header.log_file_mode & in_kib) != 0 ? 10U : 20U);
  const auto written = std::max<u64>(header.buffers_written, static_cast<u64>(last) + 1);
  return written >= most / std::max<u32>(header.buffer_size, 1);
}

// Of the header's buffer an .etl file keeps the first one. `damaged` of the buffers have a number
// that is not theirs. Returns how many buffers were overwritten.
u64 note_overwritten(const Buffers& buffers, std::ptrdiff_t damaged, BufferScan& scan,
                     core::Findings& findings) {
  if (!may_overwrite(scan.header, buffers.back()->sequence)) return 0;
  // Where the newest are not there, the file was cut, as "buffer-count" tells: its older ones may
  // lie behind the cut. A session that was not closed has counted none.
  const bool closed = scan.header.end_time.ticks != 0;
  if (closed && buffers.back()->sequence + 1 < static_cast<i64>(scan.header.buffers_written))
    return 0;
  const bool begins_late = buffers[0]->sequence > 1;
  const bool goes_on_late =
      buffers.size() > 1 && buffers[1]->sequence - buffers[0]->sequence - 1 > damaged;
  if (!begins_late && !goes_on_late) return 0;
  const auto* const first = buffers[begins_late ? 0 : 1];
  scan.overwritten = true;
  findings.warning("buffers-overwritten", first->offset,
                   "the session kept only its last buffers: those before number {} were "
                   "overwritten",
                   first->sequence);
  return static_cast<u64>(first->sequence - (begins_late ? 0 : buffers[0]->sequence + 1));
}

// The header counts what was overwritten too, and none before the session was closed.
void report_count(const BufferScan& scan, u64 overwritten, core::Findings& findings) {
  const u64 written = scan.header.buffers_written, there = scan.buffers.size();
  if (scan.has_header && scan.header.end_time.ticks != 0 && written != there &&
      written != there + overwritten)
    findings.warning("buffer-count", std::nullopt, "the header counts {}, the file has {}",
                     core::counted(written, "buffer", "buffers"), there);
}

// Holes between the numbers, but for those that `strays` buffers with damaged numbers leave.
void find_holes(const Buffers& buffers, bool late, std::ptrdiff_t strays, BufferScan& scan,
                core::Findings& findings) {
  // What was overwritten at the start of a circular file shifts all numbers.
  const auto shift = late && buffers.size() > 1 ? buffers[1]->sequence : 0;
  const auto is_stray = [&](const BufferEntry* buffer) {
    return buffer->sequence - shift >= first_unbelievable(scan);
  };
  // A damaged number leaves a hole where it should be.
  strays += std::count_if(buffers.begin(), buffers.end(), is_stray);
  for (std::size_t i = 1; i < buffers.size(); ++i) {
    const auto& before = *buffers[i - 1];
    const auto& after = *buffers[i];
    const auto missing = after.sequence - before.sequence - 1;
    if (missing == 0 || (before.offset == 0 && late)) continue;
    if (is_stray(&after)) {
      findings.warning("buffer-sequence", after.offset,
                       "the buffer number {} is beyond all that the session can have written",
                       after.sequence);
      continue;
    }
    if (missing <= strays) {
      strays -= missing;
      continue;
    }
    if (missing == 1)
      findings.warning("gap-buffers-missing", after.offset, "buffer {} is missing",
                       before.sequence + 1);
    else
      findings.warning("gap-buffers-missing", after.offset, "buffers {} to {} are missing",
                       before.sequence + 1, after.sequence - 1);
    scan.gaps.push_back({Gap::Reason::buffers_missing, after.offset, 0,
                         before.events > 0 ? std::optional{before.last_time} : std::nullopt,
                         std::nullopt, static_cast<u64>(missing)});
  }
}

// Buffers that the header of a closed session counts and that neither the file nor a hole between
// numbers has: the file was cut between two of them. What cannot be read at its start were those
// before the first number. Where older ones were overwritten, the number of the last one alone
// tells.
void find_missing_end(const Buffers& buffers, bool overwrites, BufferScan& scan,
                      core::Findings& findings) {
  const auto& last = *buffers.back();
  if (!scan.has_header || scan.header.end_time.ticks == 0) return;
  u64 there = scan.buffers.size();
  for (const auto& gap : scan.gaps)
    if (gap.reason == Gap::Reason::buffers_missing) there += gap.buffers;
  if (std::none_of(scan.buffers.begin(), scan.buffers.end(),
                   [](const BufferEntry& entry) { return entry.offset == 0; }))
    // A file that a session went on with has one of a low number alone, at its start.
    there += (scan.header.log_file_mode & starts_new_files) != 0
                 ? 1
                 : static_cast<u64>(buffers.front()->sequence);
  if (overwrites) there = static_cast<u64>(last.sequence) + 1;
  if (scan.header.buffers_written <= there) return;
  u64 end = 0;
  for (const auto& entry : scan.buffers) end = std::max(end, entry.offset + entry.size);
  const auto missing = scan.header.buffers_written - there;
  if (missing == 1)
    findings.warning("gap-buffers-missing", end, "the last buffer is missing");
  else
    findings.warning("gap-buffers-missing", end, "the last {} buffers are missing", missing);
  scan.gaps.push_back({Gap::Reason::buffers_missing, end, 0,
                       last.events > 0 ? std::optional{last.last_time} : std::nullopt, std::nullopt,
                       missing});
}

}  // namespace

void find_missing_buffers(BufferScan& scan, core::Findings& findings) {
  Buffers buffers;
  for (const auto& entry : scan.buffers) buffers.push_back(&entry);
  std::sort(buffers.begin(), buffers.end(), is_written_before);
  const auto negative = drop_negative(buffers, findings);
  if (buffers.empty()) {
    report_count(scan, 0, findings);
    return;
  }
  const bool overwrites = may_overwrite(scan.header, buffers.back()->sequence);
  report_count(scan, note_overwritten(buffers, negative, scan, findings), findings);
  if (const auto repeated = drop_repeated(buffers, findings))
    find_holes(buffers, overwrites || (scan.header.log_file_mode & starts_new_files) != 0,
               negative + *repeated, scan, findings);
  find_missing_end(buffers, overwrites, scan, findings);
}

}  // namespace coldtrace::tracefile
