#pragma once

#include <span>
#include <string_view>

#include "coldtrace/tracefile/fields/schema_source.hpp"

namespace coldtrace::tracefile {

// A row of a table of events, as the .inc files of this folder have them.
struct EventTableRow {
  enum class Kind : u8 {
    provider,  // `name` and `text`, the GUID: the rows behind it are of this provider
    values,    // `name` of a map, `text` its numbers and names: "0 None, 1 First"
    bits,      // the same of bits: "0x1 A, 0x10/0x30 B" has the bits that are compared
    keywords,  // `text`: bits of the provider's keywords and their names, as of a map
    task,    // `version` the number, 0 where it is not known, and `name` of the task of the events
             // behind it, `text` its own opcodes: "10 First, 11 Second"
    event,   // `text`: number and name of the opcode of events that have the same layouts
    fields,  // `text`: the layout (event_layout.hpp) of `version`; "+ ..." continues the one above
  };
  Kind kind;
  u8 version;
  std::string_view name;
  std::string_view text;
};

SchemaTable read_event_table(std::span<const EventTableRow> rows);

}  // namespace coldtrace::tracefile
