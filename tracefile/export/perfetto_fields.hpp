#pragma once

#include "coldtrace/core/integers.hpp"

namespace coldtrace::trace_export::perfetto {

// Numbers of fields and values of Perfetto's messages.
// Source: google/perfetto, protos/perfetto/trace/.

namespace trace {
constexpr u32 packet = 1;
}

namespace trace_packet {
constexpr u32 process_tree = 2;
constexpr u32 clock_snapshot = 6;
constexpr u32 timestamp = 8;
constexpr u32 trusted_packet_sequence_id = 10;
constexpr u32 track_event = 11;
constexpr u32 interned_data = 12;
constexpr u32 sequence_flags = 13;
constexpr u32 compressed_packets = 50;
constexpr u32 track_descriptor = 60;
constexpr u32 etw_events = 95;
constexpr u32 incremental_state_cleared = 1;
constexpr u32 needs_incremental_state = 2;
}  // namespace trace_packet

namespace clock_snapshot {
constexpr u32 clocks = 1;
constexpr u32 clock_id = 1;
constexpr u32 timestamp = 2;
constexpr u32 realtime = 1;
constexpr u32 boottime = 6;
}  // namespace clock_snapshot

namespace process_tree {
constexpr u32 processes = 1;
constexpr u32 threads = 2;
namespace process {
constexpr u32 pid = 1;
constexpr u32 ppid = 2;
constexpr u32 cmdline = 3;
}  // namespace process
namespace thread {
constexpr u32 tid = 1;
constexpr u32 name = 2;
constexpr u32 tgid = 3;
}  // namespace thread
}  // namespace process_tree

namespace track_descriptor {
constexpr u32 uuid = 1;
constexpr u32 name = 2;
constexpr u32 thread = 4;
constexpr u32 parent_uuid = 5;
constexpr u32 counter = 8;
namespace thread_descriptor {
constexpr u32 pid = 1;
constexpr u32 tid = 2;
}  // namespace thread_descriptor
namespace counter_descriptor {
constexpr u32 unit = 3;
constexpr u32 count = 2;
}  // namespace counter_descriptor
}  // namespace track_descriptor

namespace track_event {
constexpr u32 debug_annotations = 4;
constexpr u32 type = 9;
constexpr u32 name_iid = 10;
constexpr u32 track_uuid = 11;
constexpr u32 name = 23;
constexpr u32 counter_value = 30;
constexpr u32 slice_begin = 1;
constexpr u32 slice_end = 2;
constexpr u32 counter = 4;
namespace debug_annotation {
constexpr u32 uint_value = 3;
constexpr u32 string_value = 6;
constexpr u32 name = 10;
}  // namespace debug_annotation
}  // namespace track_event

namespace interned_data {
constexpr u32 event_names = 2;
constexpr u32 iid = 1;
constexpr u32 name = 2;
}  // namespace interned_data

namespace etw {
constexpr u32 event = 2;  // of the bundle
constexpr u32 timestamp = 1;
constexpr u32 c_switch = 2;
constexpr u32 ready_thread = 3;
constexpr u32 cpu = 4;
constexpr u32 thread_id = 5;
namespace switches {
constexpr u32 new_thread_id = 1;
constexpr u32 old_thread_id = 2;
constexpr u32 new_thread_priority = 3;
constexpr u32 old_thread_priority = 4;
constexpr u32 old_thread_wait_reason_int = 11;
constexpr u32 old_thread_state_int = 13;
}  // namespace switches
namespace ready {
constexpr u32 thread_id = 1;
constexpr u32 adjust_increment = 3;
constexpr u32 adjust_reason_int = 5;
constexpr u32 flag_int = 6;
}  // namespace ready
}  // namespace etw

}  // namespace coldtrace::trace_export::perfetto
