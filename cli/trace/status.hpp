#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/output/json.hpp"

namespace coldtrace::cli {

// "STATUS_ACCESS_DENIED (0xc0000022)"; "0xc0001234" of one without a name.
std::string status_text(u32 value, std::string_view name);
std::string nt_status_text(u32 value);
// Of a process or thread: most are numbers of the program's own, which have no name.
std::string exit_status_text(u32 value);

// {"name","value"}; the name is null where none is known. null for no status.
void write_status(JsonWriter& json, u32 value, std::string_view name);
void write_nt_status(JsonWriter& json, std::optional<u32> value);
void write_exit_status(JsonWriter& json, std::optional<u32> value);

}  // namespace coldtrace::cli
