#pragma once

#include "coldtrace/tracefile/fields/field_schema.hpp"

namespace coldtrace::tracefile {

// What of two schemas is compared.
enum class SchemaEquality : u8 {
  layout,  // which bytes of a payload each field has
  fields,  // and what they are called
  shown,   // and how their values are shown; what names values is not looked at
};

// Whether two schemas of an event are the same so far. Numbers of slots are what whoever read a
// schema made them.
[[nodiscard]] bool are_same(const EventSchema& a, const EventSchema& b, SchemaEquality equality);

// Whether values of the fields have the same names by both. The fields are the same.
[[nodiscard]] bool have_same_maps(const EventSchema& a, const EventSchema& b);
// Whether they have different ones: that one has none is not a contradiction.
[[nodiscard]] bool have_contradicting_maps(const EventSchema& a, const EventSchema& b);

}  // namespace coldtrace::tracefile
