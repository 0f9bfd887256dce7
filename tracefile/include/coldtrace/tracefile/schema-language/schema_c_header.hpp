#pragma once

#include "coldtrace/tracefile/schema-language/schema_language.hpp"

namespace coldtrace::tracefile {

// A C header for a driver: ids, values of enums and flags, and a packed structure for the fields of
// each event up to the first whose size depends on the data. It needs <coldtrace/trace_writer.h>.
[[nodiscard]] std::string to_c_header(const std::vector<Schema>& schemas);

// The names that the header uses: "wmk_context_switch", "WMK_CONTEXT_SWITCH".
[[nodiscard]] std::string c_name(const Schema& schema, std::string_view name, u8 version = 0);
[[nodiscard]] std::string c_constant(std::string_view name);
// A field's name in it: reserved words of C and C++ get a '_' at the end.
[[nodiscard]] std::string c_member(std::string_view name);

}  // namespace coldtrace::tracefile
