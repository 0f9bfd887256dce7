#pragma once

#include <map>
#include <string>
#include <utility>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::cli {

// How often a run reported each finding, by code and severity.
using FindingTally = std::map<std::pair<std::string, std::string>, u64>;

// Counts everything that each Report of this process is told from now on; null ends this.
void tally_findings(FindingTally* tally);

}  // namespace coldtrace::cli
