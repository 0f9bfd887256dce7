#pragma once

#include <string_view>

#include "coldtrace/core/borrowed.hpp"

namespace coldtrace::core {

// The name that a C function has in its source, without the decoration of the 32-bit x86 calling
// conventions: "KeSetEvent" for "_KeSetEvent" (__cdecl), "_KeSetEvent@12" (__stdcall) and
// "@KeSetEvent@12" (__fastcall). C++ names, which begin with '?', and names whose only '@' is not
// followed by a number stay as they are; names with several '@' lose only the prefix. Sources:
// Microsoft, "Decorated names", Format of a C decorated name; for other names the rule is that of
// pdbconv.py of Volatility 3, so that tables that either makes of one PDB have the same names.
[[nodiscard]] std::string_view undecorated(std::string_view name);
template <TemporaryText T>
std::string_view undecorated(T&&) = delete;

}  // namespace coldtrace::core
