#pragma once

#include <string_view>

namespace coldtrace::cli {

// True for the codes of finding_codes.inc, which lists all that any library uses.
bool is_finding_code(std::string_view code);

}  // namespace coldtrace::cli
