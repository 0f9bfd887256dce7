#include "tracefile/etl/buffer_scanner.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "coldtrace/core/reader.hpp"
#include "coldtrace/core/text.hpp"
#include "tracefile/etl/buffer_finder.hpp"
#include "tracefile/etl/buffer_tail.hpp"
#include "tracefile/etl/session.hpp"

namespace coldtrace::tracefile {
namespace {

using core::Fault;

constexpr u64 header_size = BufferHeader::size_on_disk;
constexpr u32 usual_buffer = 64U << 10;
constexpr u32 most_of_windows = 16U << 20;
constexpr u64 least_unpacked = u64{1} << 20;  // that a file's buffers may unpack to, however short

// The session's size of buffers; 0 when it does not say, or what no session can have.
u32 usual_size(const BufferScan& scan) {
  const auto size = scan.header.buffer_size;
  return size > BufferHeader::largest_buffer ? 0 : size;
}

// That of the first buffer too, since either number may be damaged.
u32 largest_of(const core::ImageSource& source, const BufferScan& scan) {
  std::array<std::byte, header_size> bytes;
  if (source.size() < header_size || !source.read_at(0, bytes)) return usual_size(scan);
  const auto first = load_buffer_header(bytes);
  return std::max(usual_size(scan), is_plausible(first) ? first.size : 0);
}

class Scanner {
 public:
  Scanner(const core::ImageSource& source, BufferScan& scan, std::optional<u64> largest_unpacked,
          core::Findings& findings)
      : source_{source},
        finder_{source, largest_of(source, scan)},
        scan_{scan},
        findings_{findings},
        end_{source.size()},
        unpacked_left_{
            largest_unpacked.value_or(least_unpacked + BufferHeader::unpacked_per_byte * end_)},
        measured_left_{unpacked_left_} {}

  void run() {
    for (u64 at = 0; at < end_;) {
      const auto header = finder_.read_header(at);
      if (const auto whole = header ? believe(*header, at) : finder_.find_unsized_at(at)) {
        at += add(*whole, at);
      } else if (const auto repaired = finder_.find_repaired_at(at); repaired && !header) {
        findings_.warning("buffer-header", header.error());
        at += add(*repaired, at);
      } else if (header) {
        at = skip_damage(at, {Fault::bad_value, at, "WMI_BUFFER_HEADER", "BufferSize",
                              finder_.largest(), header->size});
      } else {
        at = skip_damage(at, header.error());
      }
    }
  }

 private:
  // A header at the end of a buffer is one when anything else says so too.
  std::optional<BufferHeader> believe(const BufferHeader& header, u64 at) {
    const u64 next = at + header.size;
    const bool whole = header.size == finder_.largest() || next == end_ ||
                       (next < end_ && (end_ - next < header_size || finder_.read_header(next)));
    if (at == 0 || whole || finder_.find_at(at) || finder_.find_unsized_at(at)) return header;
    return std::nullopt;
  }

  // Whether a buffer that ends at `at` is followed by what should follow.
  bool follows(u64 at) const {
    return at == end_ || (at < end_ && (end_ - at < header_size || finder_.find_at(at)));
  }

  // Bytes from `at` to what comes behind the buffer. BufferSize is right when a buffer follows
  // there; else the next buffer tells, or the size that all buffers of the session have.
  u64 extent_of(const BufferHeader& header, u64 at) {
    const u64 most = finder_.most_bytes(header);
    const bool packed = (header.flags & BufferHeader::compressed) != 0;
    const bool possible = header.size >= header_size && header.size <= most;
    if (possible && follows(at + header.size)) return header.size;
    const u64 to_next = finder_.find_next(at + header_size) - at;
    const auto too_small = [&] {
      return packed ? !unpacks(header, at) : header.filled > header.size || to_next == most;
    };
    if (to_next == header.size || (to_next <= most && (to_next < header.size || too_small())))
      return to_next;
    return std::min({to_next, most, possible ? u64{header.size} : most});
  }

  bool unpacks(const BufferHeader& header, u64 at) {
    const auto stored = std::min<u64>(header.size, end_ - at);
    auto entry = to_entry(header, at, static_cast<u32>(stored));
    entry.filled = std::min(entry.filled, most_unpacked());
    return entry.filled <= measured_left_ && !measure(entry)->damaged;
  }

  // Returns the bytes that the buffer takes in the file.
  u64 add(const BufferHeader& header, u64 at) {
    const u64 extent = extent_of(header, at);
    auto entry = to_entry(header, at, static_cast<u32>(extent));
    const bool cut =
        extent == end_ - at && extent < header.size && header.size <= finder_.most_bytes(header);
    if (cut)
      findings_.warning("trace-truncated", at, "the last buffer has {} of {} bytes", extent,
                        header.size);
    else if (extent != header.size)
      findings_.warning("buffer-size", at, "a buffer of {} bytes claims to have {}", extent,
                        header.size);
    if (entry.compressed())
      bound_unpacked(entry, header.saved);
    else if (!cut)
      bound_events(entry);
    scan_.buffers.push_back(entry);
    return extent;
  }

  // What a buffer is believed to have in it: no more than the session's buffers are long, and the
  // usual size, since that number may be damaged too.
  u32 most_unpacked() const {
    const auto size = usual_size(scan_);
    return size == 0 ? BufferHeader::largest_buffer : std::max(size, usual_buffer);
  }

  void bound_unpacked(BufferEntry& entry, u32 saved) {
    const auto claimed = entry.filled;
    if (entry.offset != 0 && saved <= most_unpacked()) entry.filled = std::max(claimed, saved);
    if (entry.filled > most_unpacked()) {
      findings_.warning("buffer-length", entry.offset,
                        "a compressed buffer claims {} bytes of events, but those of its session "
                        "have {} at most",
                        entry.filled, most_unpacked());
      believe_unpacked(entry);
    } else {
      report_offset(entry, claimed);
    }
    if (entry.filled > unpacked_left_) {
      findings_.warning("unpacked-limit", entry.offset,
                        "compressed buffers unpack to more than the size of the file justifies or "
                        "--unpacked-limit allows; this one is not read");
      entry.filled = 0;
      entry.cut = false;
      scan_.gaps.push_back({Gap::Reason::not_unpacked, entry.offset, entry.size, std::nullopt,
                            processor_of(entry, scan_)});
    }
    unpacked_left_ -= entry.filled;
  }

  // What a buffer unpacks to. All that is unpacked to be looked at costs no more than what is kept.
  std::shared_ptr<const Buffer> measure(const BufferEntry& entry) {
    auto unpacked = load_buffer(source_, entry, scan_.compression);
    measured_left_ -= std::min<u64>(measured_left_, unpacked->bytes.size());
    return unpacked;
  }

  // A buffer that claims more than is believed has what it unpacks to, as far as that is allowed.
  void believe_unpacked(BufferEntry& entry) {
    auto whole = entry;
    whole.filled = static_cast<u32>(
        std::min<u64>({std::max(std::min(entry.filled, most_of_windows), most_unpacked()),
                       unpacked_left_, measured_left_}));
    if (whole.filled < header_size) {
      entry.cut = true;
      entry.filled = most_unpacked();
      return;
    }
    const auto unpacked = measure(whole);
    const auto size = static_cast<u32>(unpacked->bytes.size());
    const bool ends = unpacked->damaged;
    entry.cut = ends ? unpacked->error.fault != Fault::truncated : whole.filled < entry.filled;
    entry.filled = ends || !entry.cut ? std::max<u32>(size, header_size) : most_unpacked();
  }

  void bound_events(BufferEntry& entry) {
    const auto claimed = entry.filled;
    if (claimed > entry.size) {
      findings_.warning("buffer-length", entry.offset,
                        "a buffer of {} bytes claims {} bytes of events", entry.size, claimed);
      entry.filled = entry.size;
      entry.filled = find_end(source_, entry);
      return;
    }
    const auto tail = find_tail(source_, entry);
    entry.filled = tail.filled;
    if (tail.unused)
      findings_.info("buffer-tail", entry.offset + tail.filled,
                     "bytes after the events of a buffer are neither filler nor further events");
    report_offset(entry, claimed);
  }

  void report_offset(const BufferEntry& entry, u32 claimed) {
    if (entry.filled < header_size) {
      findings_.warning("buffer-offset", entry.offset,
                        "a buffer claims {} bytes in use, fewer than its header takes", claimed);
      scan_.gaps.push_back({Gap::Reason::damaged, entry.offset, entry.size, std::nullopt,
                            processor_of(entry, scan_)});
    } else if (entry.filled != claimed) {
      findings_.warning("buffer-offset", entry.offset,
                        "a buffer has {} bytes of events and claims {}", entry.filled, claimed);
    }
  }

  // Where the next buffer starts after bytes at `at` that are none, or the end of the file.
  u64 skip_damage(u64 at, const core::ParseError& error) {
    const u64 next = finder_.find_next(at + 1);
    if (error.fault == Fault::truncated) {
      findings_.warning("trace-truncated", at, "{} not a whole buffer header",
                        core::counted(next - at, "byte at the end is", "bytes at the end are"));
    } else if (error.fault == Fault::io) {
      findings_.warning("trace-unreadable", error);
    } else if (next == end_ && is_unwritten(at)) {
      findings_.info("trace-preallocated", at, "{} at the end never written",
                     next - at == 1 ? "1 byte" : fmt::format("{} bytes", next - at), "was");
      return next;
    } else {
      findings_.warning("buffer-header", error);
    }
    scan_.gaps.push_back(
        {error.fault == Fault::io ? Gap::Reason::unreadable : Gap::Reason::not_a_buffer, at,
         next - at, std::nullopt, std::nullopt});
    return next;
  }

  // A preallocated file that was not filled has zeros from where the next buffer would be.
  bool is_unwritten(u64 at) const {
    std::vector<std::byte> window(std::size_t{1} << 16);
    for (; at < end_; at += window.size()) {
      const auto part = std::span{window}.first(std::min<u64>(end_ - at, window.size()));
      if (!source_.read_at(at, part) || !core::is_zero(part)) return false;
    }
    return true;
  }

  const core::ImageSource& source_;
  BufferFinder finder_;
  BufferScan& scan_;
  core::Findings& findings_;
  u64 end_;
  u64 unpacked_left_;  // bytes that compressed buffers may still unpack to
  u64 measured_left_;  // the same of those that are unpacked to see what they have
};

void report_header(const LogfileHeader& header, core::Findings& findings) {
  if (header.events_lost > 0)
    findings.warning("events-lost", std::nullopt, "the logger lost {}",
                     core::counted(header.events_lost, "event", "events"));
  if (header.buffers_lost > 0)
    findings.warning("buffers-lost", std::nullopt, "the logger lost {}",
                     core::counted(header.buffers_lost, "buffer", "buffers"));
  if (!make_clock(header, 0).has_rate())
    findings.warning("clock-rate", std::nullopt,
                     "the header gives no possible clock frequency: a tick is taken as 100 ns");
  if (header.end_time.ticks == 0)
    findings.info("trace-not-closed", std::nullopt,
                  "the session was never closed: the header has no end time");
}

}  // namespace

core::Result<BufferScan> scan_buffers(const core::ImageSource& source,
                                      std::optional<u64> largest_unpacked,
                                      core::Findings& findings) {
  auto scan = COLDTRACE_TRY(find_session(source, findings));
  // So that the index of a long trace is not held twice when it grows.
  constexpr u64 least_size = 4096, most_reserved = u64{1} << 17U;
  const auto size = std::max<u64>(scan.header.buffer_size, least_size);
  scan.buffers.reserve(std::min(source.size() / size + 1, most_reserved));
  Scanner{source, scan, largest_unpacked, findings}.run();
  if (scan.has_header) report_header(scan.header, findings);
  return scan;
}

}  // namespace coldtrace::tracefile
