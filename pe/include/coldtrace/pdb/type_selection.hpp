#pragma once

#include <span>
#include <string>
#include <vector>

#include "coldtrace/pdb/type_table.hpp"

namespace coldtrace::pe {

// The requested structures, unions and enumerations, by name, then index, including those that are
// only declared. `wanted` contains names, globs, and indexes of records such as "0x1a2b"; if empty,
// all. One that nothing matches is the finding `no-match`.
[[nodiscard]] std::vector<TypeTable::Definition> select_types(const TypeTable& table,
                                                              std::span<const std::string> wanted,
                                                              core::Findings& findings);

}  // namespace coldtrace::pe
