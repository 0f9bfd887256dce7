#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::syscall_map {

// A structure that a function takes a pointer to.
struct PrototypeArgument {
  u32 number;  // from 0
  std::string_view structure;
};

// Of functions whose first arguments documents tell, by their undecorated names.
std::optional<PrototypeArgument> known_argument(std::string_view function);

// The structure that a function returns a pointer to, and that a global variable points to; empty:
// none is known.
std::string_view known_result(std::string_view function);
std::string_view known_pointer(std::string_view variable);

// Whether documents tell all members of the structure, so that they lie alike in every build.
bool is_documented_structure(std::string_view name);

}  // namespace coldtrace::syscall_map
