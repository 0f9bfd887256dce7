#pragma once

#include <string_view>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::syscall_map {

// How well the evidence supports a value.
enum class Confidence : u8 {
  low,     // one piece of evidence, or a published place
  medium,  // several pieces that agree, but of one kind
  high,    // independent kinds of evidence that agree
};

[[nodiscard]] std::string_view to_string(Confidence confidence);

}  // namespace coldtrace::syscall_map
