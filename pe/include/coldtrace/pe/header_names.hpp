#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/pe/headers.hpp"

namespace coldtrace::pe {

// Names of numbers in headers, in lower case with underscores; empty for unknown numbers. Source:
// Microsoft, "PE Format".
[[nodiscard]] std::string_view to_string(Directory directory);  // "exports", "load_config"
[[nodiscard]] std::string_view subsystem_name(u16 subsystem);   // "native", "windows_gui"
[[nodiscard]] std::string_view debug_type_name(u32 type);       // "codeview", "reproducible"

// The names of set bits, such as "dynamic_base" and "force_integrity".
[[nodiscard]] std::vector<std::string_view> dll_characteristic_names(u16 bits);
[[nodiscard]] std::vector<std::string_view> file_characteristic_names(u16 bits);
[[nodiscard]] std::vector<std::string_view> section_characteristic_names(u32 bits);
[[nodiscard]] std::vector<std::string_view> guard_flag_names(
    u32 bits);  // of the load configuration

// "r-x": the access to the pages of a section.
[[nodiscard]] std::string section_access(u32 characteristics);

}  // namespace coldtrace::pe
