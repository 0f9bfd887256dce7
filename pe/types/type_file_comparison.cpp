#include "coldtrace/pdb/type_file_comparison.hpp"

namespace coldtrace::pe {

TypeFileComparison compare_type_files(TypeFile& before, TypeFile& after,
                                      std::span<const std::string> wanted,
                                      const TypeReducer& reduce) {
  TypeFileComparison compared;
  if (before.pdb.has_value() != after.pdb.has_value()) {
    auto& pdb = before.pdb ? before : after;
    compared.reduced = reduce(pdb);
    if (compared.reduced)
      pdb.findings.info("types-reduced", std::nullopt,
                        "compared with a symbol table and reduced to what one has: without "
                        "qualifiers, signatures, methods and static members");
  }
  compared.comparison =
      compare_types(compared.table_of(before), compared.table_of(after), wanted, after.findings);
  if (compared.comparison.added > 0) note_unproved_types(before, "added");
  if (compared.comparison.removed > 0) note_unproved_types(after, "removed");
  return compared;
}

}  // namespace coldtrace::pe
