#include "tracefile/buffer_scan.hpp"

#include <algorithm>
#include <array>

namespace coldtrace::tracefile {
namespace {

using core::Fault;

constexpr u64 header_size = BufferHeader::size_on_disk;
constexpr std::size_t search_window = 1 << 20;

BufferEntry to_entry(const BufferHeader& header, u64 offset) {
  return {.offset = offset,
          .first_time = 0,
          .last_time = 0,
          .sequence = header.sequence,
          .size = header.size,
          .filled = header.filled,
          .events = 0,
          .processor = header.processor,
          .flags = header.flags,
          .logger_id = header.logger_id,
          .type = static_cast<u8>(header.type)};
}

class Scanner {
 public:
  Scanner(const core::ImageSource& source, BufferScan& scan, core::Findings& findings)
      : source_{source}, scan_{scan}, findings_{findings} {}

  void run() {
    const u64 end = source_.size();
    u64 at = 0;
    while (at < end) {
      const auto header = read_header(at);
      if (!header) {
        at = skip_damage(at, header.error());
        continue;
      }
      add(*header, at, end);
      at += std::min<u64>(header->size, end - at);
    }
  }

 private:
  core::Result<BufferHeader> read_header(u64 at) const {
    std::array<std::byte, header_size> bytes;
    const u64 available = std::min(source_.size() - at, header_size);
    COLDTRACE_TRY(source_.read_at(at, std::span{bytes}.first(available)));
    return read_buffer_header(std::span{bytes}.first(available), at);
  }

  void add(const BufferHeader& header, u64 at, u64 end) {
    auto entry = to_entry(header, at);
    if (header.size > end - at) {
      findings_.warning("trace-truncated", at, "the last buffer has {} of {} bytes", end - at,
                        header.size);
      entry.size = static_cast<u32>(end - at);
    } else if (!entry.compressed() && header.filled > header.size) {
      findings_.warning("buffer-length", at, "a buffer of {} bytes claims {} bytes of events",
                        header.size, header.filled);
      entry.filled = header.size;
    }
    scan_.buffers.push_back(entry);
  }

  // Where the next buffer starts after bytes at `at` that are none, or the end of the file.
  u64 skip_damage(u64 at, const core::ParseError& error) {
    const u64 next = find_buffer(at + 1);
    if (error.fault == Fault::truncated) {
      findings_.warning("trace-truncated", at, "{} bytes at the end are no whole buffer header",
                        next - at);
    } else if (error.fault == Fault::io) {
      findings_.warning("trace-unreadable", error);
    } else if (next == source_.size() && is_unwritten(at)) {
      findings_.info("trace-preallocated", at, "{} bytes at the end were never written", next - at);
      return next;
    } else {
      findings_.warning("buffer-header", error);
    }
    scan_.gaps.push_back(
        {error.fault == Fault::io ? Gap::Reason::unreadable : Gap::Reason::not_a_buffer, at,
         next - at, std::nullopt, std::nullopt});
    return next;
  }

  // A preallocated file that was not filled has zeros where the next buffer would be.
  bool is_unwritten(u64 at) const {
    std::array<std::byte, header_size> bytes{};
    const auto part = std::span{bytes}.first(std::min(source_.size() - at, header_size));
    if (!source_.read_at(at, part)) return false;
    return std::all_of(part.begin(), part.end(), [](std::byte b) { return b == std::byte{0}; });
  }

  // Uncompressed buffers lie at multiples of their size; compressed ones anywhere.
  u64 step() const {
    if (scan_.compression != Compression::none || scan_.header.buffer_size < header_size) return 1;
    return scan_.header.buffer_size;
  }

  u64 find_buffer(u64 from) const {
    const u64 width = step();
    const u64 end = source_.size();
    from = from + (width - from % width) % width;
    std::vector<std::byte> window;
    while (from < end && end - from >= header_size) {
      window.resize(static_cast<std::size_t>(std::min<u64>(search_window, end - from)));
      if (!source_.read_at(from, window)) {
        from += std::max(width, u64{4096});
        continue;
      }
      u64 i = 0;
      for (; i + header_size <= window.size(); i += width) {
        const auto bytes = core::ByteView{window}.subspan(i, header_size);
        if (is_buffer(bytes, from + i)) return from + i;
      }
      from += i;
    }
    return end;
  }

  // Plausible by itself and followed by another or by the end. Where buffers may lie anywhere, a
  // chance match must be ruled out.
  bool is_buffer(core::ByteView bytes, u64 at) const {
    const auto header = read_buffer_header(bytes, at);
    if (!header || header->filled < header_size) return false;
    const bool cut = header->size > source_.size() - at;
    if (scan_.compression == Compression::none) return cut || is_followed(at + header->size);
    const bool packed = (header->flags & BufferHeader::compressed) != 0;
    const auto references = core::load<u32>(bytes, 0x0c);
    return packed && references == 0U && !cut && is_followed(at + header->size);
  }

  bool is_followed(u64 next) const {
    return next == source_.size() || source_.size() - next < header_size || read_header(next);
  }

  const core::ImageSource& source_;
  BufferScan& scan_;
  core::Findings& findings_;
};

// The header event of the first buffer.
core::Result<BufferScan> read_first_buffer(const core::ImageSource& source) {
  std::array<std::byte, header_size> bytes;
  if (source.size() < header_size)
    return core::fail(
        {Fault::truncated, 0, "WMI_BUFFER_HEADER", "BufferSize", header_size, source.size()});
  COLDTRACE_TRY(source.read_at(0, bytes));
  const auto header = COLDTRACE_TRY(read_buffer_header(bytes, 0));
  auto entry = to_entry(header, 0);
  entry.size = static_cast<u32>(std::min<u64>(entry.size, source.size()));
  if (header.type != BufferHeader::header_buffer || entry.compressed())
    return core::fail({Fault::bad_magic, 0x36, "WMI_BUFFER_HEADER", "BufferType",
                       BufferHeader::header_buffer, header.type});
  const auto buffer = load_buffer(source, entry, Compression::none);
  BufferWalker walker{buffer->bytes, {0, false, std::nullopt}, header_size};
  if (!walker.next()) {
    if (walker.damaged()) return core::fail(walker.error());
    return core::fail({Fault::truncated, header_size, "trace header", "Marker", 8, 0});
  }
  const auto& event = walker.event();
  if (event.kernel_group != u8{0} || event.opcode != 0)
    return core::fail({Fault::bad_magic, header_size, "trace header", "HookId", 0,
                       u64{event.kernel_group.value_or(0xff)} << 8 | event.opcode});
  const u64 payload_offset = header_size + (event.size - event.payload.size());
  auto logfile = read_logfile_header(event.payload, event.pointer_size, payload_offset);
  if (!logfile) return core::fail(logfile.error());
  auto compression = Compression::none;
  if ((logfile->log_file_mode & LogfileHeader::compressed) != 0) {
    const auto format = header.state & 0xffffU;
    compression = format == 2   ? Compression::lznt1
                  : format == 4 ? Compression::xpress_huffman
                                : Compression::xpress;
  }
  return BufferScan{std::move(*logfile), event.timestamp, event.pointer_size, compression, {}, {}};
}

void report_header(const LogfileHeader& header, u64 buffers, core::Findings& findings) {
  if (header.events_lost > 0)
    findings.warning("events-lost", std::nullopt, "the logger lost {} events", header.events_lost);
  if (header.buffers_lost > 0)
    findings.warning("buffers-lost", std::nullopt, "the logger lost {} buffers",
                     header.buffers_lost);
  if (header.end_time.ticks == 0)
    findings.info("trace-not-closed", std::nullopt,
                  "the session was never closed: the header has no end time");
  else if (header.buffers_written != buffers)
    findings.warning("buffer-count", std::nullopt, "the header counts {} buffers, the file has {}",
                     header.buffers_written, buffers);
}

}  // namespace

std::string_view to_string(Gap::Reason reason) {
  switch (reason) {
    case Gap::Reason::events_lost:
      return "events-lost";
    case Gap::Reason::buffers_lost:
      return "buffers-lost";
    case Gap::Reason::damaged:
      return "damaged";
    case Gap::Reason::unreadable:
      return "unreadable";
    case Gap::Reason::not_a_buffer:
      return "not-a-buffer";
    case Gap::Reason::buffers_missing:
      return "buffers-missing";
    case Gap::Reason::entries_torn:
      return "entries-torn";
  }
  return "unknown";
}

core::Result<BufferScan> scan_buffers(const core::ImageSource& source, core::Findings& findings) {
  auto scan = COLDTRACE_TRY(read_first_buffer(source));
  Scanner{source, scan, findings}.run();
  report_header(scan.header, scan.buffers.size(), findings);
  return scan;
}

}  // namespace coldtrace::tracefile
