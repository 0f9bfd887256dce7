#pragma once

#include <string>
#include <vector>

#include "cli/command/common_options.hpp"
#include "cli/trace/analysis/row_order.hpp"
#include "cli/trace/analysis/services/service_names.hpp"

namespace coldtrace::cli {

// Which services of a trace are shown: all without any option.
struct ServiceChoice {
  std::vector<std::string> labels;    // names or globs, as ServiceNames::label has them
  std::vector<std::string> profiles;  // paths of hook profiles
};

void add_service_choice(Command& command, ServiceChoice& choice);

// Their indexes, in order. Throws Failure if a profile cannot be read.
std::vector<u32> choose_services(const trace_analysis::Services& services,
                                 const ServiceNames& names, const ServiceChoice& choice,
                                 RowOrder order, const CommonOptions& options,
                                 core::Findings& findings);

}  // namespace coldtrace::cli
