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
  if (compared.comparison.added > 0) pe::note_unproved_types(before, "added");
  if (compared.comparison.removed > 0) pe::note_unproved_types(after, "removed");
  return compared;
}

}  // namespace coldtrace::cli
