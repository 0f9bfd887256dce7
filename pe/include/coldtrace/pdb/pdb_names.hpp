#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "coldtrace/pdb/pdb_publics.hpp"

namespace coldtrace::pe {

// Whether `decorated` is the form in which compilers write the C name `name` for linkers:
// unchanged, or with the decoration of a calling convention, `_name`, `_name@8`, `@name@8`,
// `name@@8`. Decorated C++ names are names of their own.
[[nodiscard]] bool is_decoration_of(std::string_view decorated, std::string_view name);

// The symbols with this name and an address, one for each address.
[[nodiscard]] std::vector<const PublicSymbol*> find_public_symbols(
    std::span<const PublicSymbol> symbols, std::string_view name);

}  // namespace coldtrace::pe
