#pragma once

#include <string>
#include <string_view>

namespace coldtrace::pe {

// The name of the file that the loader looks for, in lower case: a name without a dot gets ".dll";
// a trailing dot only prevents that.
// Source: Microsoft, "LoadLibraryExW function", remarks on lpLibFileName.
[[nodiscard]] std::string dll_file_name(std::string_view name);

// "api-..." and "ext-...": names that stand for other DLLs.
// Source: Microsoft, "Windows API sets".
[[nodiscard]] bool is_api_set_name(std::string_view name);

}  // namespace coldtrace::pe
