#pragma once

#include <set>
#include <span>
#include <string>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pdb/symbol_file.hpp"

namespace coldtrace::syscall_map {

// What several symbol files for one image say differently.
struct SymbolDisagreement {
  std::set<std::string, std::less<>> symbols;  // undecorated C names
  std::set<std::string, std::less<>> types;
};

// Compares each of `files` with those after it: symbols that have no place in common; structures
// and unions with different sizes, or different offsets of a member that both have; enumerators
// with different numbers. What one of them lacks is not a difference. The differences are in the
// finding `pdb-contradiction`.
SymbolDisagreement compare_symbol_files(std::span<const pe::SymbolFile* const> files,
                                        core::Findings& findings);

}  // namespace coldtrace::syscall_map
