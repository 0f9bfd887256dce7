#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "coldtrace/pdb/type_comparison.hpp"
#include "coldtrace/pdb/type_file.hpp"

namespace coldtrace::cli {

// What pe::compare_types() says of two files. Where one of them alone is a symbol table, the PDB
// was made one too, since a table has neither qualifiers nor signatures, methods nor static
// members: that is the finding `types-reduced` of the PDB.
struct ComparedTypes {
  pe::TypeComparison comparison;
  std::optional<pe::TypeFile> reduced;  // that the comparison has views of

  // Of the records that it names.
  [[nodiscard]] const pe::TypeTable& table_of(const pe::TypeFile& file) const {
    return reduced && file.pdb ? reduced->table : file.table;
  }
};
// What a side lacks of types that it does not have itself is no change: `types-unproved`.
[[nodiscard]] ComparedTypes compare_type_files(pe::TypeFile& before, pe::TypeFile& after,
                                               std::span<const std::string> wanted);

}  // namespace coldtrace::cli
