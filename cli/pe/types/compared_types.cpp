#include "cli/pe/types/compared_types.hpp"

#include <limits>
#include <utility>
#include <vector>

#include "cli/images/isf_reader.hpp"
#include "cli/output/output.hpp"
#include "cli/pe/types/isf_json.hpp"
#include "coldtrace/pdb/isf_file.hpp"

namespace coldtrace::cli {
namespace {

// The file as the symbol table that "pe isf" makes of it.
std::optional<pe::TypeFile> reduce(const pe::TypeFile& file) {
  pe::SymbolFile described;
  described.identity = file.identity;
  core::Findings findings;  // of names that are there twice: "pe isf" tells them
  BufferPool pool;
  Output output{std::numeric_limits<std::size_t>::max(), pool};
  JsonWriter json{output, Int64::number};
  write_isf(json, described, file.table, file.identity.name, std::nullopt, findings);
  std::vector<core::TextBuffer> pieces;
  output.take(pieces);
  std::string text;
  for (const auto& piece : pieces) text += piece.view();
  const auto table = read_isf(text);
  if (!table) return std::nullopt;
  auto reduced = pe::to_type_file(file.path, *table);
  if (!reduced) return std::nullopt;
  return std::move(*reduced);
}

}  // namespace

void note_unproved_types(pe::TypeFile& file, std::string_view change) {
  const bool elsewhere = file.pdb && file.pdb->dbi() && file.pdb->dbi()->has_type_servers();
  if (file.table.count() > 0 && !elsewhere) return;
  file.findings.warning("types-unproved", std::nullopt, "{}: what it lacks is not proved to be {}",
                        elsewhere ? "types are in other PDBs" : "the file has no types", change);
}

ComparedTypes compare_type_files(pe::TypeFile& before, pe::TypeFile& after,
                                 std::span<const std::string> wanted) {
  ComparedTypes compared;
  if (before.pdb.has_value() != after.pdb.has_value()) {
    auto& pdb = before.pdb ? before : after;
    compared.reduced = reduce(pdb);
    if (compared.reduced)
      pdb.findings.info("types-reduced", std::nullopt,
                        "compared with a symbol table, as one: without qualifiers, signatures, "
                        "methods and static members");
  }
  compared.comparison = pe::compare_types(compared.table_of(before), compared.table_of(after),
                                          wanted, after.findings);
  if (compared.comparison.added > 0) note_unproved_types(before, "added");
  if (compared.comparison.removed > 0) note_unproved_types(after, "removed");
  return compared;
}

}  // namespace coldtrace::cli
