#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::syscall_map {

// A structure to which a function takes a pointer.
struct PrototypeArgument {
  u32 number;  // from 0
  std::string_view structure;
};

// For functions with documented first arguments, by their undecorated names.
std::optional<PrototypeArgument> known_argument(std::string_view function);

// The structure to which a function returns a pointer, or a global variable points; empty: none is
// known.
std::string_view known_result(std::string_view function);
std::string_view known_pointer(std::string_view variable);

// Whether all members of the structure are documented, so that its layout is the same in every
// build.
bool is_documented_structure(std::string_view name);

}  // namespace coldtrace::syscall_map
