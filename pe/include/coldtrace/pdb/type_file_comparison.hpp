#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "coldtrace/pdb/type_comparison.hpp"
#include "coldtrace/pdb/type_file.hpp"

namespace coldtrace::pe {

// Makes of a PDB the symbol table that describes it. Nothing where none can be made.
using TypeReducer = std::function<std::optional<TypeFile>(const TypeFile& pdb)>;

// What compare_types() says of two files.
struct TypeFileComparison {
  TypeComparison comparison;
  std::optional<TypeFile> reduced;  // that the comparison has views of

  // Of the records that it names.
  [[nodiscard]] const TypeTable& table_of(const TypeFile& file) const {
    return reduced && file.pdb ? reduced->table : file.table;
  }
};

// Compares files as far as both can tell. Where one of them alone is a symbol table, which has
// neither qualifiers nor signatures, methods nor static members, the PDB is reduced to one: that is
// the finding `types-reduced` of the PDB. What a side lacks of types that it does not have itself
// is not a change: `types-unproved`.
[[nodiscard]] TypeFileComparison compare_type_files(TypeFile& before, TypeFile& after,
                                                    std::span<const std::string> wanted,
                                                    const TypeReducer& reduce);

}  // namespace coldtrace::pe
