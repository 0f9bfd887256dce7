#pragma once

#include <memory>
#include <string_view>

#include "coldtrace/tracefile/fields/field_schema.hpp"

namespace coldtrace::tracefile {

// The names of a map of kernel_value_table.inc, or null. The same object every time.
std::shared_ptr<const ValueMap> find_kernel_values(std::string_view map);

}  // namespace coldtrace::tracefile
