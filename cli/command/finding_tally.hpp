#pragma once

#include <map>
#include <string>
#include <utility>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::cli {

// How often a run made each finding, by code and severity.
using FindingTally = std::map<std::pair<std::string, std::string>, u64>;

// From now on adds all findings passed to any Report of this process; null: stops that.
void tally_findings(FindingTally* tally);

}  // namespace coldtrace::cli
