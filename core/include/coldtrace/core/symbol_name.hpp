#pragma once

#include <string_view>

#include "coldtrace/core/borrowed.hpp"

namespace coldtrace::core {

// The name that a C function has in its source, without what the calling conventions of 32-bit x86
// add: "KeSetEvent" of "_KeSetEvent" (__cdecl), "_KeSetEvent@12" (__stdcall) and "@KeSetEvent@12"
// (__fastcall). Names of C++, which begin with '?', and names in which something else than one
// number stands after an '@' stay as they are, but for what they begin with where they have several
// of these. Sources: Microsoft, "Decorated names", Format of a C decorated name; the rule where
// names are no such ones is that of pdbconv.py of Volatility 3, so that tables made of one PDB by
// either have the same names.
[[nodiscard]] std::string_view undecorated(std::string_view name);
template <TemporaryText T>
std::string_view undecorated(T&&) = delete;

}  // namespace coldtrace::core
