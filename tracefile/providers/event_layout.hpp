#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "coldtrace/tracefile/fields/field_schema.hpp"

namespace coldtrace::tracefile {

// The names of the values of a map, or null.
using FindValues = std::function<std::shared_ptr<const ValueMap>(std::string_view)>;

// The fields of a layout as kernel_event_table.inc and clr_event_table.inc have them: "Name:type"
// with blanks between. After a type:
//   [12]     so many elements, or units of a text
//   [Count]  as many elements as the earlier field Count says, or bytes of a binary
//   []       elements to the end of the payload
//   ?        absent when the payload ends before it
//   =Map     its values, or their bits, have names
// "pad" is bytes without meaning, "pad64" four before a pointer of eight and none before one of
// four. "Name:{...}" is a structure, and "Name:{...}[Count]" an array of them. Nothing when the
// text is not a layout; a test reads all rows.
std::optional<EventSchema> parse_event_layout(std::string_view layout,
                                              const FindValues& find_values);

}  // namespace coldtrace::tracefile
