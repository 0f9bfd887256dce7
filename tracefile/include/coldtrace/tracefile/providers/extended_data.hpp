#pragma once

#include <optional>
#include <vector>

#include "coldtrace/core/guid.hpp"
#include "coldtrace/tracefile/events/event.hpp"

namespace coldtrace::tracefile {

// Types of extended data items. Source: Windows SDK evntcons.h, EVENT_HEADER_EXT_TYPE_*.
enum class ExtendedType : u16 {
  related_activity = 1,
  sid = 2,
  terminal_session = 3,
  instance = 4,
  stack32 = 5,
  stack64 = 6,
  pebs = 7,
  pmc = 8,
  psm_key = 9,
  event_key = 10,
  schema = 11,  // TraceLogging
  provider_traits = 12,
  process_start_key = 13,
  control_guid = 14,
  qpc_delta = 15,
  container = 16,
  stack_key32 = 17,
  stack_key64 = 18,
};

// EVENT_HEADER_EXTENDED_DATA_ITEM.
struct ExtendedItem {
  ExtendedType type;
  core::ByteView data;
};

// Walks the items of an event in their order.
class ExtendedItems {
 public:
  explicit ExtendedItems(const Event& event) : left_{event.extended} {}
  // Nothing after the last complete one.
  std::optional<ExtendedItem> next();

 private:
  core::ByteView left_;
};

// The data of the first item of the type, or nothing.
[[nodiscard]] std::optional<core::ByteView> find_extended(const Event& event, ExtendedType type);

// The stack of the event, innermost frame first: one vector for all its stack items. Keys of stacks
// that are defined elsewhere are in `keys`.
struct EventStack {
  std::vector<u64> frames;
  std::vector<u64> keys;
};
void read_stack(const Event& event, EventStack& stack);

// The provider's name in its traits, or empty.
[[nodiscard]] std::string_view provider_traits_name(const Event& event);

// Which record of processor event-based sampling (PEBS) a PERFINFO event belongs to, as its header
// says.
[[nodiscard]] std::optional<u64> find_pebs_index(const Event& event);

// Values of performance counters that a PERFINFO event carries in its header, or empty.
[[nodiscard]] core::ByteView header_counters(const Event& event);

// What the header of an event of a private session has instead of kernel and user time: clock ticks
// of the processor. Source: EVENT_HEADER in Windows SDK evntcons.h.
[[nodiscard]] std::optional<u64> find_processor_time(const Event& event);

// What INSTANCE headers have in addition to FULL ones.
struct EventInstance {
  u32 id;
  u32 parent_id;
  core::Guid parent;
};
[[nodiscard]] std::optional<EventInstance> find_instance(const Event& event);

// What WPP messages have in addition to number, time, thread and GUID.
struct MessageHeader {
  u16 options;
  std::optional<u32> sequence;
  std::optional<u32> component;
};
[[nodiscard]] std::optional<MessageHeader> find_message_header(const Event& event);

}  // namespace coldtrace::tracefile
