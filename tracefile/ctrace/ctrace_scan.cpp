#include "coldtrace/tracefile/ctrace/ctrace_scan.hpp"

#include <algorithm>
#include <limits>

#include "coldtrace/core/text.hpp"
#include "coldtrace/tracefile/etl/buffer.hpp"
#include "tracefile/ctrace/ctrace_sequence.hpp"

namespace coldtrace::tracefile {
namespace {

using core::Fault;

constexpr std::size_t header_size = CtraceBufferHeader::size_on_disk;
constexpr std::size_t search_window = 1 << 16;
constexpr std::size_t sector = 512;  // what a disk fails to read at a time, at least
constexpr std::string_view magic = "CTBUFFER";
// Bytes that may be read for what then is not a buffer: made-up headers could overlap without end.
constexpr u64 search_budget_base = u64{64} << 20;

class Scanner {
 public:
  Scanner(const core::ImageSource& source, const CtraceHeader& header, CtraceVisitor& visitor,
          CtraceScan& scan, core::Findings& findings, std::size_t parts)
      : source_{source},
        header_{header},
        visitor_{visitor},
        scan_{scan},
        findings_{findings},
        parts_{parts},
        budget_{search_budget_base + 4 * std::min(source.size(), u64{1} << 60)} {}

  void run() {
    u64 at = header_.size;
    while (at < source_.size()) {
      if (load(at)) {
        take(at);
        at += bytes_.size();
      } else {
        at = skip_damage(at);
      }
    }
    if (!scan_.closed && parts_ == 1) note_not_closed(source_, findings_);
  }

 private:
  // Whether a buffer lies there whole; its bytes are then in bytes_. Otherwise error_ says why.
  bool load(u64 at) {
    const u64 left = source_.size() - at;
    if (left < header_size) {
      error_ = {Fault::truncated, at, "ctrace buffer", "", header_size, left};
      return false;
    }
    auto* memory = storage_.get(header_size);
    if (const auto read = source_.read_at(at, {memory, header_size}); !read) {
      error_ = read.error();
      return false;
    }
    const auto header = read_ctrace_buffer_header({memory, header_size}, at);
    if (!header) {
      error_ = header.error();
      return false;
    }
    buffer_ = *header;
    const u64 size = header_size + header->length;
    if (size > left) {
      error_ = {Fault::truncated, at, "ctrace buffer", "Length", size, left};
      return false;
    }
    memory = storage_.get(size);
    if (const auto read = source_.read_at(at, {memory, size}); !read) {
      error_ = read.error();
      return false;
    }
    bytes_ = {memory, size};
    if (const auto computed = ctrace_buffer_crc(bytes_); computed != header->crc) {
      error_ = {Fault::bad_value, at + 8, "ctrace buffer", "Crc", computed, header->crc};
      budget_ -= std::min(budget_, size);
      return false;
    }
    return true;
  }

  void take(u64 at) {
    if (buffer_.kind == CtraceBufferHeader::Kind::end) {
      scan_.closed = true;
      return;
    }
    CtraceBufferEntry entry{at,
                            CtraceBufferEntry::none,
                            std::numeric_limits<u64>::max(),
                            0,
                            static_cast<u32>(bytes_.size()),
                            buffer_.sequence,
                            0,
                            buffer_.processor};
    const auto gaps_before = scan_.gaps.size();
    if (parts_ == 1) check_sequence(entry);
    if (buffer_.lost != 0) {
      scan_.lost += buffer_.lost;
      scan_.gaps.push_back({Gap::Reason::events_lost, at, 0, {}, buffer_.processor, 0});
      scan_.gaps.back().events = buffer_.lost;
      findings_.warning("gap-events-lost", at, "{} lost before this buffer",
                        core::counted(buffer_.lost, "event was", "events were"));
    }
    const auto loss_end = scan_.gaps.size();
    walk(entry);
    for (auto i = gaps_before; i < loss_end; ++i)
      scan_.gaps[i].timestamp =
          static_cast<i64>(entry.events != 0 ? entry.first_stamp : buffer_.cycles);
    scan_.events += entry.events;
    add(entry);
  }

  void check_sequence(const CtraceBufferEntry& entry) {
    auto& sequence = sequences_.try_emplace(entry.processor, header_).first->second;
    const auto gap = sequence.check(entry.processor, entry.sequence, entry.offset, findings_);
    if (!gap) return;
    scan_.missing += gap->buffers;
    scan_.gaps.push_back(*gap);
  }

  void add(const CtraceBufferEntry& entry) {
    const u64 index = scan_.buffers.size();
    auto known = scan_.processors.find(entry.processor);
    if (known == scan_.processors.end()) {
      known = scan_.processors
                  .emplace(entry.processor,
                           CtraceScan::Processor{index, index, entry.first_stamp,
                                                 CtraceClock{header_.frequency, parts_}})
                  .first;
    } else {
      link(known->second.last_buffer, index);
      known->second.last_buffer = index;
      known->second.first_stamp = std::min(known->second.first_stamp, entry.first_stamp);
    }
    scan_.buffers.push_back(entry);
    if (buffer_.file_time != 0)
      known->second.clock.add({buffer_.cycles, buffer_.file_time, entry.offset}, findings_);
  }

  void link(u64 from, u64 to) {
    auto entry = scan_.buffers.at(from);
    if (entry) entry->next = to;
    if (!entry || !scan_.buffers.replace(from, *entry))
      findings_.warning("index-lost", std::nullopt,
                        "the temporary file of the trace's index cannot be used: buffers from the "
                        "{}th on are missing",
                        to);
  }

  void walk(CtraceBufferEntry& entry) {
    CtraceEntries entries{bytes_, entry.sequence, header_size};
    u64 before = 0;
    for (auto item = entries.next(); item != CtraceEntries::Item::end; item = entries.next()) {
      if (item == CtraceEntries::Item::torn) {
        const auto place = entry.offset + entries.torn_offset();
        scan_.gaps.push_back(
            {Gap::Reason::entries_torn, place, entries.torn_length(), {}, entry.processor, 0});
        if (entry.events != 0) scan_.gaps.back().timestamp = static_cast<i64>(before);
        findings_.warning("entries-torn", place, "{} no entry",
                          core::counted(entries.torn_length(), "byte was reserved and holds",
                                        "bytes were reserved and hold"));
        continue;
      }
      const auto& one = entries.entry();
      if (!one.committed) {
        ++scan_.uncommitted;
        findings_.warning("entry-uncommitted", entry.offset + one.offset,
                          "an entry of type {:#06x} was reserved and never committed", one.type);
        continue;
      }
      if (one.stamp < before)
        findings_.info("event-order", entry.offset + one.offset,
                       "events in a buffer are not in time order");
      before = one.stamp;
      entry.first_stamp = std::min(entry.first_stamp, one.stamp);
      entry.last_stamp = std::max(entry.last_stamp, one.stamp);
      ++entry.events;
      visitor_.visit(entry.processor, one);
    }
  }

  // Where the next whole buffer is after `at`, where none is.
  u64 skip_damage(u64 at) {
    const auto error = error_;
    const u64 next = find_buffer(at + 1);
    Gap gap{Gap::Reason::damaged, at, next - at, {}, {}, 0};
    if (error.fault == Fault::io) {
      gap.reason = Gap::Reason::unreadable;
      findings_.warning("trace-unreadable", error);
    } else if (error.fault == Fault::bad_magic) {
      gap.reason = Gap::Reason::not_a_buffer;
      findings_.warning("buffer-header", error);
    } else if (error.fault == Fault::truncated) {
      findings_.warning("trace-truncated", at, "{}", error);
    } else {
      findings_.warning("buffer-damaged", error);
    }
    scan_.gaps.push_back(gap);
    return next;
  }

  u64 find_buffer(u64 from) {
    std::vector<std::byte> window(search_window);
    u64 careful_until = 0;  // up to there something could not be read
    for (u64 at = from; at < source_.size();) {
      const auto limit = at < careful_until ? sector : window.size();
      const auto size = static_cast<std::size_t>(std::min<u64>(limit, source_.size() - at));
      if (!source_.read_at(at, std::span{window}.first(size))) {
        if (limit == sector)
          at = (at / sector + 1) * sector;
        else
          careful_until = at + window.size();
        continue;
      }
      const auto text = core::to_chars(std::span{window}.first(size));
      for (auto found = text.find(magic); found != text.npos; found = text.find(magic, found + 1)) {
        if (budget_ == 0) {
          findings_.warning("buffer-search", at + found,
                            "the search for the next buffer was abandoned");
          return source_.size();
        }
        if (load(at + found)) return at + found;
      }
      // A magic may lie across the windows.
      at += size == limit ? size - (magic.size() - 1) : size;
    }
    return source_.size();
  }

  const core::ImageSource& source_;
  const CtraceHeader& header_;
  CtraceVisitor& visitor_;
  CtraceScan& scan_;
  core::Findings& findings_;
  std::size_t parts_;
  u64 budget_;
  std::map<u16, CtraceSequence> sequences_;
  Scratch storage_;
  core::ByteView bytes_;
  CtraceBufferHeader buffer_{};
  core::ParseError error_{Fault::truncated, 0, "", "", 0, 0};
};

}  // namespace

CtraceScan scan_ctrace(const core::ImageSource& source, const CtraceHeader& header,
                       CtraceVisitor& visitor, core::Findings& findings, std::size_t parts) {
  CtraceScan scan{std::max(CtraceScan::most_in_memory / parts, CtraceScan::least_in_memory)};
  Scanner{source, header, visitor, scan, findings, parts}.run();
  return scan;
}

}  // namespace coldtrace::tracefile
