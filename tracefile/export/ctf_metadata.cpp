#include "tracefile/export/ctf_metadata.hpp"

#include <array>
#include <string_view>

#include <fmt/format.h>

namespace coldtrace::trace_export {
namespace {

// Streams are of processors (0) and of what is of none (1). Readers strip the first underscore of
// names, which keeps them apart from keywords.
// Sources: CTF 1.8.3; LTTng-modules, instrumentation/events; Trace Compass takes a trace for one of
// LTTng's kernel tracer by the domain.
constexpr std::string_view types = R"(/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := u8;
typealias integer { size = 16; align = 8; signed = false; } := u16;
typealias integer { size = 32; align = 8; signed = false; } := u32;
typealias integer { size = 64; align = 8; signed = false; } := u64;
typealias integer { size = 32; align = 8; signed = true; } := i32;
typealias integer { size = 64; align = 8; signed = true; } := i64;

)";

constexpr std::string_view streams = R"(typealias integer {
  size = 64; align = 8; signed = false; map = clock.windows.value;
} := moment;

stream {
  id = 0;
  packet.context := struct {
    moment timestamp_begin; moment timestamp_end; u64 content_size; u64 packet_size;
    u64 events_discarded; u32 cpu_id;
  };
  event.header := struct { u16 id; moment timestamp; };
};

stream {
  id = 1;
  packet.context := struct {
    moment timestamp_begin; moment timestamp_end; u64 content_size; u64 packet_size;
    u64 events_discarded;
  };
  event.header := struct { u16 id; moment timestamp; };
};

)";

struct Layout {
  std::string_view name, fields;
  unsigned stream;
};

// In the order of CtfEvent.
constexpr std::string_view waking =
    "string _comm; i32 _tid; i32 _prio; i32 _target_cpu; i32 _waker; string _by;";
constexpr std::array layouts{
    Layout{"sched_switch",
           "string _prev_comm; i32 _prev_tid; i32 _prev_prio; i64 _prev_state; string _next_comm; "
           "i32 _next_tid; i32 _next_prio; string _prev_windows_state; string _prev_wait_reason;",
           0},
    Layout{"sched_waking", waking, 0},
    Layout{"lttng_statedump_process_state",
           "i32 _tid; i32 _vtid; i32 _pid; i32 _vpid; i32 _ppid; i32 _vppid; string _name; i32 "
           "_type; i32 _mode; i32 _submode; i32 _status; u32 _ns_level;",
           0},
    Layout{"sched_process_exit", "string _comm; i32 _tid; i32 _prio;", 0},
    Layout{"irq_handler_entry", "i32 _irq; string _name;", 0},
    Layout{"irq_handler_exit", "i32 _irq; i32 _ret;", 0},
    Layout{"softirq_entry", "u32 _vec; string _name;", 0},
    Layout{"softirq_exit", "u32 _vec; string _name;", 0},
    Layout{"windows_call", "string _name; string _kind; i32 _tid; u64 _duration;", 1},
    Layout{"windows_disk_request",
           "string _action; i32 _disk; i32 _tid; i64 _offset; i64 _bytes; u64 _duration;", 1},
    Layout{"windows_file_operation",
           "string _action; string _file; i32 _tid; i64 _bytes; u32 _status; u64 _duration;", 1},
    Layout{"windows_region",
           "string _provider; string _name; i32 _tid; string _fields; u64 _duration;", 1},
    Layout{"sched_waking", waking, 1},
};

std::string uuid_text(const CtfStream::TraceId& id) {
  std::string text;
  for (std::size_t i = 0; i < id.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(id[i]));
  }
  return text;
}

std::string clock_text(std::optional<i64> start) {
  constexpr i64 second = 1'000'000'000;
  const bool is_known = start && *start >= 0;
  const i64 offset = is_known ? *start : 0;
  return fmt::format(
      "clock {{\n  name = \"windows\"; description = \"{}\"; freq = {}; offset_s = {}; offset = "
      "{}; "
      "absolute = {};\n}};\n\n",
      is_known ? "UTC" : "since the first event", second, offset / second, offset % second,
      is_known ? "TRUE" : "FALSE");
}

}  // namespace

std::string ctf_metadata(const CtfStream::TraceId& id, std::optional<i64> start) {
  std::string text{types};
  text += fmt::format(
      "trace {{\n  major = 1; minor = 8; uuid = \"{}\"; byte_order = le;\n"
      "  packet.header := struct {{ u32 magic; u8 uuid[16]; u32 stream_id; }};\n}};\n\n",
      uuid_text(id));
  text +=
      "env {\n  domain = \"kernel\"; sysname = \"Windows\"; tracer_name = \"lttng-modules\"; "
      "tracer_major = 2; tracer_minor = 13; exporter = \"coldtrace\";\n};\n\n";
  text += clock_text(start);
  text += streams;
  for (std::size_t i = 0; i < layouts.size(); ++i)
    text += fmt::format(
        "event {{\n  name = \"{}\"; id = {}; stream_id = {};\n  fields := struct {{ {} "
        "}};\n}};\n\n",
        layouts[i].name, i, layouts[i].stream, layouts[i].fields);
  return text;
}

}  // namespace coldtrace::trace_export
