#pragma once

#include <string_view>

#include "cli/output/json.hpp"
#include "cli/output/output.hpp"
#include "coldtrace/syscall-map/stubs/comparison.hpp"

namespace coldtrace::cli {

// Changes and the shifts they cause, in the order of the second image's numbers: a shift is added
// to the line of the change before it.
void write_service_comparison(Output& output, const syscall_map::Comparison& comparison,
                              std::string_view indent = {});

// The members "common", "renumbered", "changes" and "shifts".
void write_service_comparison(JsonWriter& json, const syscall_map::Comparison& comparison);

}  // namespace coldtrace::cli
