#include "coldtrace/tracefile/etl/trace_header.hpp"

#include <array>

#include "coldtrace/tracefile/events/clock_change.hpp"
#include "tracefile/etl/event_header.hpp"
#include "tracefile/events/event_header_flags.hpp"
#include "tracefile/providers/kernel_group.hpp"

namespace coldtrace::tracefile {
namespace {

using core::ByteView;
using core::Fault;
using core::Fields;

constexpr u32 alignment = 8;
constexpr u32 unknown_id = 0xffffffff;

constexpr u16 schema_item = 11;  // EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL

// Extended data items of one event. Windows 11 knows 18 types, and few come twice.
constexpr unsigned most_items = 64;

// Looked up several times an event, whose types come in no order that could be foreseen.
constexpr auto layouts = [] {
  std::array<HeaderLayout, 256> table{};
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = layout_of(static_cast<HeaderType>(i));
  return table;
}();

const HeaderLayout& find_layout(HeaderType type) {
  return layouts[static_cast<u8>(type)];
}

std::optional<u32> known_id(u32 id) {
  return id == unknown_id ? std::nullopt : std::optional{id};
}

void set_times(Event& event, u32 kernel, u32 user) {
  event.kernel_time = kernel;
  event.user_time = user;
}

// `record` is the event's bytes without padding, which hold at least the header.
void read_system(ByteView record, Event& event, bool with_times) {
  const auto in = *Fields<24>::at(record, 0);
  event.event_class = EventClass::classic;
  event.version = in.get<u8, 0>();
  event.opcode = in.get<u8, 6>();
  event.kernel_group = in.get<u8, 7>();
  event.provider = kernel_class(*event.kernel_group, event.opcode);
  event.tid = known_id(in.get<u32, 8>());
  event.pid = known_id(in.get<u32, 12>());
  event.timestamp = in.get<i64, 16>();
  event.payload = record.subspan(with_times ? 32 : 24);
  if (!with_times) return;
  const auto times = *Fields<8>::at(record, 24);
  set_times(event, times.get<u32, 0>(), times.get<u32, 4>());
}

// No process and thread: whoever looks at context switches may know them.
bool read_perfinfo(ByteView record, Event& event) {
  const auto in = *Fields<16>::at(record, 0);
  const auto version = in.get<u16, 0>();
  const std::size_t extra = (version >> 8 & 7U) + (version >> 15);  // counters and a PEBS index
  event.event_class = EventClass::classic;
  event.version = static_cast<u8>(version & 0xff);
  event.opcode = in.get<u8, 6>();
  event.kernel_group = in.get<u8, 7>();
  event.provider = kernel_class(*event.kernel_group, event.opcode);
  event.timestamp = in.get<i64, 8>();
  if (record.size() < 16 + extra * 8) return false;
  event.payload = record.subspan(16 + extra * 8);
  return true;
}

void read_full(ByteView record, Event& event, std::size_t header_size) {
  const auto in = *Fields<48>::at(record, 0);
  event.event_class = EventClass::classic;
  event.opcode = in.get<u8, 4>();
  event.level = in.get<u8, 5>();
  event.version = static_cast<u8>(in.get<u16, 6>());
  event.tid = known_id(in.get<u32, 8>());
  event.pid = known_id(in.get<u32, 12>());
  event.timestamp = in.get<i64, 16>();
  event.provider = core::to_guid(in.bytes<24, 16>());
  set_times(event, in.get<u32, 40>(), in.get<u32, 44>());
  event.payload = record.subspan(header_size);
}

// The bytes of extended data items at the start of `rest`, or nothing when they are damaged.
// Sets trace_logging when one of them is a schema.
std::optional<ByteView> find_extended_data(ByteView rest, Event& event) {
  std::size_t at = 0;
  for (unsigned i = 0; i < most_items; ++i) {
    const auto item = Fields<8>::at(rest, at);
    if (!item) return std::nullopt;
    const auto size = item->get<u16, 0>();
    if (size < 8 || size > rest.size() - at) return std::nullopt;
    if (item->get<u16, 2>() == schema_item) event.trace_logging = true;
    at += size;
    if ((item->get<u16, 4>() & 1U) == 0) return rest.first(at);
  }
  return std::nullopt;
}

// Takes the extended data from the front of the payload.
bool read_extended_data(ByteView record, Event& event) {
  if (event.event_class != EventClass::manifest) return true;
  const auto flags = *core::load<u16>(record, 4);
  if ((flags & event_header_flag::extended_info) == 0) return true;
  const auto extended = find_extended_data(event.payload, event);
  if (!extended) return false;
  event.extended = *extended;
  event.payload = event.payload.subspan(extended->size());
  return true;
}

// WPP header items follow in the order of the option bits. Source: evntrace.h, TRACE_MESSAGE_*.
bool read_message(ByteView record, Event& event) {
  core::Reader in{record, "WPP message", 0};
  in.skip(4, "header");
  event.event_class = EventClass::message;
  event.id = in.read_u16("MessageNumber");
  const auto options = in.read_u16("Options");
  if ((options & 0x01U) != 0) in.skip(4, "Sequence");
  if ((options & 0x02U) != 0) {
    event.provider = core::to_guid(in.take(16, "MessageGuid"));
  } else if ((options & 0x04U) != 0) {
    in.skip(4, "ComponentId");
  }
  event.has_time = (options & 0x08U) != 0;
  if (event.has_time) event.timestamp = in.read_i64("Timestamp");
  if ((options & 0x20U) != 0) {
    event.tid = known_id(in.read_u32("ThreadId"));
    event.pid = known_id(in.read_u32("ProcessId"));
  }
  if ((options & 0x40U) != 0) event.pointer_size = 4;
  if ((options & 0x80U) != 0) event.pointer_size = 8;
  event.payload = in.take(in.remaining(), "arguments");
  return in.ok();
}

bool read_by_type(HeaderType type, ByteView record, Event& event) {
  switch (type) {
    case HeaderType::system32:
    case HeaderType::system64:
      read_system(record, event, true);
      return true;
    case HeaderType::compact32:
    case HeaderType::compact64:
      read_system(record, event, false);
      return true;
    case HeaderType::perfinfo32:
    case HeaderType::perfinfo64:
      return read_perfinfo(record, event);
    case HeaderType::full32:
    case HeaderType::full64:
      read_full(record, event, 48);
      return true;
    case HeaderType::instance32:
    case HeaderType::instance64:
      read_full(record, event, 72);
      return true;
    case HeaderType::event32:
    case HeaderType::event64:
      read_event_header(record, event);
      return true;
    case HeaderType::message:
      return read_message(record, event);
    default:
      event.event_class = EventClass::error;
      event.has_time = false;
      event.payload = record.subspan(8);
      return true;
  }
}

struct RecordStart {
  HeaderType type;
  u32 size;
};

// The type by marker and flags; nothing when the flags are not an event's.
std::optional<RecordStart> read_start(const Fields<8>& marker) {
  const auto flags = marker.get<u8, 3>();
  auto type = static_cast<HeaderType>(marker.get<u8, 2>());
  if ((flags & 0xf0U) == 0x90U) {
    type = HeaderType::message;
  } else if ((flags & 0xf0U) == 0xb0U) {
    type = HeaderType::timed;
  } else if ((flags & 0xc0U) != 0xc0U) {
    return std::nullopt;
  }
  const bool at_start = find_layout(type).size_offset == 0;
  return RecordStart{type, at_start ? marker.get<u16, 0>() : marker.get<u16, 4>()};
}

EventRead bad(Fault fault, u64 at, core::Name field, u64 expected, u64 found) {
  return {false, 0, {fault, at, "trace header", field, expected, found}};
}

}  // namespace

void read_event_header(ByteView record, Event& event) {
  const auto in = *Fields<80>::at(record, 0);
  const auto flags = in.get<u16, 4>();
  event.event_class = EventClass::manifest;
  event.tid = known_id(in.get<u32, 8>());
  event.pid = known_id(in.get<u32, 12>());
  event.timestamp = in.get<i64, 16>();
  event.provider = core::to_guid(in.bytes<24, 16>());
  event.id = in.get<u16, 40>();
  event.version = in.get<u8, 42>();
  event.channel = in.get<u8, 43>();
  event.level = in.get<u8, 44>();
  event.opcode = in.get<u8, 45>();
  event.task = in.get<u16, 46>();
  event.keywords = in.get<u64, 48>();
  if ((flags & event_header_flag::processor_index) != 0)
    event.cpu = in.get<u16, 56>();
  else if ((flags & (event_header_flag::private_session | event_header_flag::no_cputime)) == 0)
    set_times(event, in.get<u32, 56>(), in.get<u32, 60>());
  event.activity = in.bytes<64, 16>();
  event.payload = record.subspan(80);
}

u32 record_size(ByteView bytes, u32 room) {
  const auto marker = Fields<8>::at(bytes, 0);
  const auto start = marker ? read_start(*marker) : std::nullopt;
  if (!start || start->type == HeaderType::timed || start->type == HeaderType::error) return 0;
  const auto smallest = find_layout(start->type).header_size;
  return smallest != 0 && start->size >= smallest && start->size <= room ? start->size : 0;
}

EventRead peek_event(ByteView bytes, u32 offset, const BufferContext& context, Event& event) {
  const u64 at = place_of(context, offset);
  const auto marker = Fields<8>::at(bytes, offset);
  if (!marker)
    return bad(Fault::truncated, at, "Marker", 8,
               offset < bytes.size() ? bytes.size() - offset : 0);
  const auto start = read_start(*marker);
  if (!start) return bad(Fault::bad_magic, at + 3, "Flags", 0xc0, marker->get<u8, 3>());
  const auto [type, size] = *start;
  const auto& layout = find_layout(type);
  if (layout.header_size == 0)
    return bad(Fault::bad_value, at + 2, "HeaderType", core::not_one_number, static_cast<u8>(type));
  const u32 left = static_cast<u32>(bytes.size() - offset);
  if (size < layout.header_size || size > left)
    return bad(Fault::bad_value, at, "Size", size > left ? left : layout.header_size, size);
  event = Event{};
  event.header_type = static_cast<u8>(type);
  event.pointer_size = layout.pointer_size;
  event.cpu = context.cpu;
  event.buffer_offset = context.offset;
  event.offset = offset;
  event.size = size;
  event.has_time = true;
  if (!read_by_type(type, bytes.subspan(offset, size), event))
    return bad(Fault::bad_value, at, "Size", core::not_one_number, size);
  event.header = bytes.subspan(offset, size - event.payload.size());
  event.other_clock = context.other_clock;
  if (event.has_time) event.timestamp = in_clock_of_trace(event, event.timestamp);
  const u32 padded = (size + alignment - 1) & ~(alignment - 1);
  return {true, offset + (padded < left ? padded : left), {Fault::truncated, 0, "", "", 0, 0}};
}

EventRead read_event(ByteView bytes, u32 offset, const BufferContext& context, Event& event) {
  const auto read = peek_event(bytes, offset, context, event);
  if (read.ok && !read_extended_data(bytes.subspan(offset, event.size), event))
    return bad(Fault::bad_value, place_of(context, offset), "Size", core::not_one_number,
               event.size);
  return read;
}

}  // namespace coldtrace::tracefile
