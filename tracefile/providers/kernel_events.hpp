#pragma once

#include "coldtrace/core/guid.hpp"
#include "coldtrace/tracefile/events/event.hpp"
#include "coldtrace/tracefile/fields/field_schema.hpp"

namespace coldtrace::tracefile {

// What the table of kernel classes knows of a classic event. The schema is missing for events
// whose layout is not public and for versions that the table does not have.
struct KernelEvent {
  std::string_view class_name;  // "Process"
  std::string name;             // "Process/DCStart"
  std::shared_ptr<const EventSchema> schema;
  bool other_versions = false;  // without schema: the table has the event in other versions
};

// The kernel or merge event that `event` is, or nothing when its class is unknown. Costs a parse
// of the layout: callers keep what they get.
std::optional<KernelEvent> find_kernel_event(const Event& event);

// All rows of the table, for tests and documentation.
struct KernelEventRow {
  std::string_view class_name;
  core::Guid guid;
  u8 first_version, last_version;
  std::string_view opcodes;  // "10 Read, 11 Write"
  std::string_view layout;
};
const std::vector<KernelEventRow>& kernel_event_rows();

}  // namespace coldtrace::tracefile
