#pragma once

#include <string_view>

#include "coldtrace/core/guid.hpp"

namespace coldtrace::tracefile {

// The name under which Windows has a provider of its own registered; empty for any other.
std::string_view find_registered_name(const core::Guid& provider);

}  // namespace coldtrace::tracefile
