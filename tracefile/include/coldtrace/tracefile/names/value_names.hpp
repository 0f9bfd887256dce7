#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "coldtrace/tracefile/events/event.hpp"
#include "coldtrace/tracefile/fields/field_value.hpp"
#include "coldtrace/tracefile/names/name_tables.hpp"

namespace coldtrace::tracefile {

// Whose value it is and when, for looking up names.
struct NameScope {
  std::optional<u32> pid;
  i64 time = 0;
};

// For the values of an event: code that a thread starts with belongs to its own process, not to
// that of its creator.
[[nodiscard]] NameScope name_scope_of(const Event& event);

// What a value stands for: the names of its map, a file, a registry key, an image and an offset, a
// status. Empty if none is known, nothing if values of the field have no names. The view is into
// the tables or into `room`.
std::optional<std::string_view> find_value_name(const FieldSchema& field, const Value& value,
                                                const NameTables& names, const NameScope& scope,
                                                std::string& room);

}  // namespace coldtrace::tracefile
