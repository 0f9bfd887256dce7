// Any bytes as a PDB: data, annotations, compilers, contributions, enumerations and records of the
// IPI stream are no more than the file has room for, and names lead to text.

#include <vector>

#include "coldtrace/pdb/data_symbols.hpp"
#include "coldtrace/pdb/id_table.hpp"
#include "coldtrace/pdb/module_compilers.hpp"
#include "coldtrace/pdb/pdb_annotations.hpp"
#include "coldtrace/pdb/pdb_enumerations.hpp"
#include "coldtrace/pdb/pdb_modules.hpp"
#include "coldtrace/pdb/section_contributions.hpp"
#include "coldtrace/pdb/string_table.hpp"

namespace {

using namespace coldtrace;

void read_ids(const pe::Pdb& pdb, u64 size, core::Findings& findings) {
  const auto ids = pe::IdTable::read(pdb, findings);
  if (ids.count() > size / 4) __builtin_trap();
  constexpr u32 first = 0x1000;  // of most files
  for (u32 index = first; index < first + 64; ++index) {
    const auto text = ids.find_text(index);
    if (text && text->size() > pe::IdTable::longest_text) __builtin_trap();
    if (const auto function = ids.find_function(index); function && function->name.size() > size)
      __builtin_trap();
    (void)ids.find_build(index);
    (void)ids.find_source(index);
  }
}

void read_contributions(const pe::Pdb& pdb, u64 size, core::Findings& findings) {
  const auto contributions = pe::SectionContributions::read(pdb, findings);
  if (contributions.all().size() > size / 20) __builtin_trap();
  for (const auto& one : contributions.all().first(std::min<u64>(64, contributions.all().size())))
    (void)contributions.find_module(one.section, one.offset);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const core::ByteView file = std::as_bytes(std::span{data, size});
  core::Findings findings;
  const auto pdb = pe::Pdb::open(file, findings);
  if (!pdb) return 0;
  const auto sections = pe::PdbSections::read(*pdb, findings);
  u64 bytes = 0;
  pe::read_data_symbols(
      *pdb, sections, [&](const pe::DataSymbol& one) { bytes += one.name.size() + 7; }, findings);
  if (bytes > 2 * size) __builtin_trap();
  u64 texts = 0;
  pe::visit_annotations(*pdb, findings, [&](const pe::Annotation& one) {
    if (one.texts.empty()) __builtin_trap();
    for (const auto text : one.texts) texts += text.size() + 1;
  });
  if (texts > size) __builtin_trap();
  const auto modules = pe::read_modules(*pdb, findings);
  if (modules.size() > size / 50) __builtin_trap();  // of the short form
  for (const auto& [number, compiler] : pe::read_module_compilers(*pdb, findings))
    if (number >= modules.size()) __builtin_trap();
  read_contributions(*pdb, size, findings);
  read_ids(*pdb, size, findings);
  pe::visit_enumerations(*pdb, {"E", "Kind"}, findings, [&](const pe::PdbEnumeration& one) {
    if (one.values.size() > size / 4) __builtin_trap();
  });
  const auto strings = pe::StringTable::read(*pdb, findings);
  for (u32 place = 0; place < 64; ++place)
    if (const auto text = strings.find(place); text && text->size() > size) __builtin_trap();
  for (const auto& finding : findings.all())
    if (finding.first_offset.value_or(0) > size) __builtin_trap();
  return 0;
}
