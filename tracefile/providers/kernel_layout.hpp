#pragma once

#include <optional>
#include <string_view>

#include "coldtrace/tracefile/field_schema.hpp"

namespace coldtrace::tracefile {

// The fields of a layout of kernel_event_table.inc: "Name:type" with blanks between. After a type:
//   [12]     so many elements, or units of a text
//   [Count]  as many elements as the earlier field Count says
//   []       elements to the end of the payload
//   ?        absent when the payload ends before it
//   =Map     its values, or their bits, have names: those of a map of kernel_value_table.inc
// "Name:{...}" is a structure. Nothing when the text is no layout; a test reads all rows.
std::optional<EventSchema> parse_kernel_layout(std::string_view layout);

}  // namespace coldtrace::tracefile
