#pragma once

#include "coldtrace/registry/driver-check/configuration.hpp"
#include "coldtrace/registry/driver-check/file_list.hpp"
#include "coldtrace/registry/driver-check/problem.hpp"

namespace coldtrace::registry {

// What is wrong with a configuration, part by part: control sets, filters, services, DLLs, traces.
// `files` may be null: then files are not checked. Each problem is a finding as well.
[[nodiscard]] std::vector<Problem> check_drivers(const Configuration& configuration,
                                                 const FileList* files, core::Findings& findings);

}  // namespace coldtrace::registry
