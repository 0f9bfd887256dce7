#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "coldtrace/pdb/type_comparison.hpp"
#include "coldtrace/pdb/type_file.hpp"

namespace coldtrace::pe {

// Makes from a PDB the symbol table that describes it. Nothing if none can be made.
using TypeReducer = std::function<std::optional<TypeFile>(const TypeFile& pdb)>;

// The result of compare_types() for two files.
struct TypeFileComparison {
  TypeComparison comparison;
  std::optional<TypeFile> reduced;  // viewed by the comparison

  // Of the records to which it refers.
  [[nodiscard]] const TypeTable& table_of(const TypeFile& file) const {
    return reduced && file.pdb ? reduced->table : file.table;
  }
};

// Compares files as far as both contain the data. If only one of them is a symbol table, which has
// no qualifiers, signatures, methods or static members, the PDB is reduced to one, with the finding
// `types-reduced` for the PDB. Types that a side lacks because it does not contain them itself are
// not a change: `types-unproved`.
[[nodiscard]] TypeFileComparison compare_type_files(TypeFile& before, TypeFile& after,
                                                    std::span<const std::string> wanted,
                                                    const TypeReducer& reduce);

}  // namespace coldtrace::pe
