#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/pdb/symbol_file.hpp"

namespace coldtrace::pe {

// The number of a constant, according to its type.
struct ConstantValue {
  u64 bits;
  bool is_negative;

  [[nodiscard]] std::string text() const;
};

// A symbol of any kind, with what the rest of the file says about it.
struct ListedSymbol {
  std::string_view kind;  // one of `symbol_kinds`
  std::string name;       // bytes of the file; for an annotation, its first text
  std::optional<Rva> address;
  std::optional<u16> section;
  std::optional<u32> offset;
  std::optional<u32> flags;  // of public symbols
  std::optional<u64> size;   // of procedures, their parts, and variables; bytes
  std::string module;        // empty: unknown
  std::optional<u32> type;   // the record
  std::string type_text;     // empty: unknown
  std::optional<ConstantValue> value;
  std::optional<bool> thread_local_;  // of variables
  std::vector<std::string> texts;     // of annotations
};

inline constexpr std::string_view symbol_kinds[] = {"public",    "procedure", "local_procedure",
                                                    "cold_part", "global",    "data",
                                                    "constant",  "udt",       "annotation"};

// The symbols of these kinds that have one of the names or match one of the globs, or all if there
// are none, by address; those without one follow. A name or glob that matches nothing is the
// finding `no-match`, and texts of types and modules that are together longer than the file
// justifies are `symbol-limit`; damage has the findings of the damaged part.
[[nodiscard]] std::vector<ListedSymbol> list_symbols(const SymbolFile& file,
                                                     std::span<const std::string> kinds,
                                                     std::span<const std::string> names,
                                                     core::Findings& findings);

}  // namespace coldtrace::pe
