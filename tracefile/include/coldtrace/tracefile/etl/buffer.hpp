#pragma once

#include <limits>
#include <memory>

#include "coldtrace/core/image_source.hpp"
#include "coldtrace/tracefile/compression/decompress.hpp"
#include "coldtrace/tracefile/etl/buffer_header.hpp"
#include "coldtrace/tracefile/etl/trace_header.hpp"
#include "coldtrace/tracefile/events/event_buffer.hpp"

namespace coldtrace::tracefile {

// One buffer of the file as the index keeps it. `first_time` and `last_time` are the least and
// greatest timestamp of its events; `begin_time` and `end_time` those of its first and last event
// in file order, among those that have a time of their own. No event happened after `latest_time`,
// when the buffer was written; one that claims so has a wrong time, which counts in `last_time`
// alone.
struct BufferEntry {
  u64 offset;
  i64 first_time;
  i64 last_time;
  i64 sequence;
  i64 flush_time;  // as its header has it
  u32 size;        // bytes in the file, no more than the file has
  u32 filled;      // plain bytes with events, header included
  u32 events;
  u16 processor;
  u16 flags;
  u16 logger_id;
  u8 type;
  bool cut = false;  // unpacks to more than `filled`, or is damaged there
  bool ends_in_damage = false;
  bool processor_known = true;  // false: the session has no such processor, or it was elsewhere
  bool follows_loss = false;    // events of its processor may be missing before it
  i64 begin_time = 0;
  i64 end_time = 0;
  i64 latest_time = std::numeric_limits<i64>::max();
  u32 timed_events = 0;  // that have a time of their own
  bool wanted = true;    // false: a sieve lets none of its events through

  [[nodiscard]] bool compressed() const { return (flags & BufferHeader::compressed) != 0; }
};

// What the header at `offset` says about its buffer, of which the file has `size` bytes; nothing
// about its events.
[[nodiscard]] BufferEntry to_entry(const BufferHeader& header, u64 offset, u32 size);

// Reads buffers one after the other into the same memory, like load_buffer().
class BufferLoader {
 public:
  // Valid until the next call.
  const Buffer& load(const core::ImageSource& source, const BufferEntry& entry,
                     Compression compression);

 private:
  Buffer buffer_;
  Scratch stored_, plain_;
};

// Reads and decompresses. A range that cannot be read or decompressed leaves what came before it.
[[nodiscard]] std::shared_ptr<const Buffer> load_buffer(const core::ImageSource& source,
                                                        const BufferEntry& entry,
                                                        Compression compression);

}  // namespace coldtrace::tracefile
