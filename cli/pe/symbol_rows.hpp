#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/pdb/symbol_file.hpp"

namespace coldtrace::cli {

// A line of "pe symbols".
struct SymbolRow {
  std::string_view kind;  // "public", "procedure", "local_procedure", "cold_part"
  std::string name;       // bytes of the file
  std::optional<pe::Rva> address;
  u16 section;
  u32 offset;
  u32 flags;                // of public symbols
  std::optional<u32> size;  // of procedures and their parts
  std::string module;       // empty: not known
};

// The symbols of these kinds that have one of the names or match one of the globs, all where there
// are none, by address; those without one follow. What nothing has is the finding `no-match`.
std::vector<SymbolRow> choose_symbols(const pe::SymbolFile& file,
                                      std::span<const std::string> kinds,
                                      std::span<const std::string> names, core::Findings& findings);

}  // namespace coldtrace::cli
