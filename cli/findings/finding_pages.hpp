#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/command/finding_codes.hpp"

namespace coldtrace::cli {

// What "coldtrace findings CODE" says about a finding, in any format.
struct FindingPage {
  FindingCode finding;
  std::string_view cause;
  std::string_view advice;
};

// All of them, sorted by code, or those of `codes`, in that order; all must exist.
std::vector<FindingPage> finding_pages(const std::vector<std::string>& codes);

}  // namespace coldtrace::cli
