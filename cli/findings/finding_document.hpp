#pragma once

#include <string>
#include <vector>

#include "cli/findings/finding_pages.hpp"

namespace coldtrace::cli {

// docs/findings.md.
std::string finding_document(const std::vector<FindingPage>& pages);

}  // namespace coldtrace::cli
