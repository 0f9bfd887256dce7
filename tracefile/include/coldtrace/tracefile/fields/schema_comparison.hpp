#pragma once

#include "coldtrace/tracefile/fields/field_schema.hpp"

namespace coldtrace::tracefile {

// What is compared of two schemas.
enum class SchemaEquality : u8 {
  layout,  // which bytes of a payload each field has
  fields,  // and what they are called
  shown,   // and how their values are shown; the names of values are ignored
};

// Whether two schemas of an event are equal to this extent. Slot numbers depend on whoever read a
// schema.
[[nodiscard]] bool are_same(const EventSchema& a, const EventSchema& b, SchemaEquality equality);

// Whether both name the values of the fields alike. The fields are the same.
[[nodiscard]] bool have_same_maps(const EventSchema& a, const EventSchema& b);
// Whether they name them differently: that one names none is not a contradiction.
[[nodiscard]] bool have_contradicting_maps(const EventSchema& a, const EventSchema& b);

}  // namespace coldtrace::tracefile
