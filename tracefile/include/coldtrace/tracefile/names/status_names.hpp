#pragma once

#include <string>
#include <string_view>

#include "coldtrace/tracefile/fields/field_decoder.hpp"

namespace coldtrace::tracefile {

// "STATUS_ACCESS_DENIED"; empty for what the tables do not have.
[[nodiscard]] std::string_view find_nt_status(u32 status);
// The same for what a process or thread ended with: most are the program's own numbers.
[[nodiscard]] std::string_view find_exit_status(u32 value);
// "ERROR_FILE_NOT_FOUND".
[[nodiscard]] std::string_view find_win32_error(u32 error);

// Whether the output type calls the value a status.
[[nodiscard]] constexpr bool is_status(OutType out) {
  return out == OutType::win32_error || out == OutType::nt_status || out == OutType::hresult ||
         out == OutType::exit_status;
}

// The name of the status that a value is by its output type, or empty. An HRESULT that wraps
// another code is named by that.
[[nodiscard]] std::string find_status_name(const Value& value);

}  // namespace coldtrace::tracefile
