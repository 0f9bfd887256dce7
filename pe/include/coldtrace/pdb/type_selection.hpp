#pragma once

#include <span>
#include <string>
#include <vector>

#include "coldtrace/pdb/type_table.hpp"

namespace coldtrace::pe {

// The structures, unions and enumerations that are wanted, by name, then index; those that are only
// declared too. `wanted` are names, globs, and indexes of records as "0x1a2b"; none means all. What
// nothing has is the finding `no-match`.
[[nodiscard]] std::vector<TypeTable::Definition> select_types(const TypeTable& table,
                                                              std::span<const std::string> wanted,
                                                              core::Findings& findings);

}  // namespace coldtrace::pe
