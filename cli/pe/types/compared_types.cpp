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

pe::TypeFileComparison compare_type_files(pe::TypeFile& before, pe::TypeFile& after,
                                          std::span<const std::string> wanted) {
  return pe::compare_type_files(before, after, wanted, reduce);
}

}  // namespace coldtrace::cli
