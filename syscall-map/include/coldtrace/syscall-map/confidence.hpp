#pragma once

#include <string_view>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::syscall_map {

// How much the evidence for a value proves.
enum class Confidence : u8 {
  low,     // one piece of evidence, or a place that a publication names
  medium,  // several pieces that agree, but of one kind
  high,    // independent kinds of evidence that agree
};

[[nodiscard]] std::string_view to_string(Confidence confidence);

}  // namespace coldtrace::syscall_map
