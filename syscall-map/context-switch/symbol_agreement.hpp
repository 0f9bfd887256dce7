#pragma once

#include <set>
#include <span>
#include <string>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pdb/symbol_file.hpp"

namespace coldtrace::syscall_map {

// What several files of symbols that one image asks for say differently.
struct SymbolDisagreement {
  std::set<std::string, std::less<>> symbols;  // names of C without their decoration
  std::set<std::string, std::less<>> types;
};

// Compares each of `files` with those behind it: symbols that lie at no place in common; structures
// and unions whose size, or the place of a member that both have, is not the same; enumerators with
// another number. What one of them lacks is not a difference. They are told in the finding
// `pdb-contradiction`.
SymbolDisagreement compare_symbol_files(std::span<const pe::SymbolFile* const> files,
                                        core::Findings& findings);

}  // namespace coldtrace::syscall_map
