#pragma once

#include "coldtrace/registry/driver-check/configuration.hpp"
#include "coldtrace/registry/driver-check/file_list.hpp"
#include "coldtrace/registry/driver-check/problem.hpp"

namespace coldtrace::registry {

// What is wrong with a configuration, by the parts of it: control sets, filters, services, DLLs,
// traces. `files` may be absent: then nothing is said of files. Each problem is a finding as well.
[[nodiscard]] std::vector<Problem> check_drivers(const Configuration& configuration,
                                                 const FileList* files, core::Findings& findings);

}  // namespace coldtrace::registry
