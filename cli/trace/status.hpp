#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/output/json.hpp"

namespace coldtrace::cli {

// "STATUS_ACCESS_DENIED (0xc0000022)"; "0xc0001234" if it has no name.
std::string status_text(u32 value, std::string_view name);
std::string nt_status_text(u32 value);
// For a process or thread: most are the program's own numbers, which have no name.
std::string exit_status_text(u32 value);

// {"name","value"}; the name is null if not known. null for no status.
void write_status(JsonWriter& json, u32 value, std::string_view name);
void write_nt_status(JsonWriter& json, std::optional<u32> value);
void write_exit_status(JsonWriter& json, std::optional<u32> value);

}  // namespace coldtrace::cli
