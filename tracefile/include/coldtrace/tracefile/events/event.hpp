#pragma once

#include <optional>

#include "coldtrace/core/guid.hpp"

namespace coldtrace::tracefile {

// How an event names its kind.
enum class EventClass : u8 {
  classic,   // by class GUID, opcode and version: kernel events, MOF providers
  manifest,  // by provider GUID, id and version: manifests, EventSource, TraceLogging
  message,   // by message GUID and number: WPP
  error,     // a logger's own record of a failure
  driver,    // by provider GUID, id and version: entries of a .ctrace file
};

// Where the process and thread of an event come from.
enum class ThreadSource : u8 {
  header,          // they were logged, or are not known
  payload,         // a field names them
  context_switch,  // the thread that runs on the processor, by the context switches so far
};

struct ClockChange;

// One event as its file holds it: header fields, and the payload as bytes to be decoded on demand.
// The views are valid as long as the buffer that the event was read from.
struct Event {
  EventClass event_class;
  u8 header_type;   // of the trace format; 0 if it has none
  u8 pointer_size;  // of the producer: 4 or 8
  u8 opcode;
  u8 version;
  u8 level;
  u8 channel;
  bool trace_logging;  // carries its schema
  u16 id;
  u16 task;
  u64 keywords;
  // Raw value of the trace's clock; that of the event before if it has none.
  i64 timestamp;
  bool has_time;
  core::Guid provider;
  std::optional<u8> kernel_group;  // of a kernel event that came with a group instead of a GUID
  std::optional<u16> cpu;
  std::optional<u32> pid, tid;
  std::optional<u32> kernel_time, user_time;  // in timer ticks
  core::ByteView activity;                    // GUID of 16 bytes, or empty
  core::ByteView header;                      // of the event, as the format has it
  core::ByteView extended;                    // extended data items
  core::ByteView payload;
  u64 buffer_offset;  // of its buffer in the file
  u32 offset;         // in the uncompressed buffer
  u32 size;           // header and payload, without padding
  u64 file_time = 0;  // FILETIME of a trace whose processors have clocks of their own; else 0
  bool approximate_time = false;
  u16 file = 0;  // its place among the files of the trace
  ThreadSource thread_source = ThreadSource::header;
  const ClockChange* other_clock = nullptr;  // of a file that does not have the clock of the trace

  // The time by which names of the trace are looked up.
  [[nodiscard]] i64 name_time() const {
    return file_time != 0 ? static_cast<i64>(file_time) : timestamp;
  }
};

}  // namespace coldtrace::tracefile
