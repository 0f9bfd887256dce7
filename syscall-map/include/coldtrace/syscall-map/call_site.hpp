#pragma once

#include <optional>
#include <string>

#include "coldtrace/pe/rva.hpp"

namespace coldtrace::syscall_map {

// A direct call of a function.
struct CallSite {
  pe::Rva rva{};                    // of the call instruction
  std::optional<pe::Rva> function;  // that contains it: from .pdata, an export or a symbol
  std::string name;                 // "KiDispatchInterrupt+0x7f"; empty if nothing names it
};

}  // namespace coldtrace::syscall_map
