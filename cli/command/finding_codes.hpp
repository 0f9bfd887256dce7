#pragma once

#include <span>
#include <string_view>

namespace coldtrace::cli {

struct FindingCode {
  std::string_view code;
  std::string_view severity;  // "info" or "warning"
  std::string_view meaning;
};

// All codes that findings can have, sorted.
std::span<const FindingCode> finding_codes();

bool is_finding_code(std::string_view code);

}  // namespace coldtrace::cli
