// Any bytes: no crash, no hang, errors lie inside the file, no stream is larger than it, and
// symbols are no more than their records have room for.

#include "coldtrace/pdb/pdb_procedures.hpp"
#include "coldtrace/pdb/pdb_publics.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace coldtrace;
  const core::ByteView file = std::as_bytes(std::span{data, size});
  core::Findings findings;
  const auto pdb = pe::Pdb::open(file, findings);
  if (!pdb) {
    if (pdb.error().offset > size) __builtin_trap();
    return 0;
  }
  if (pdb->msf().stream_count() > size / 4) __builtin_trap();
  for (u32 i = 0; i < pdb->msf().stream_count() && i < 64; ++i) {
    const auto stream = pdb->msf().read(i, "stream");
    if (stream && stream->view().size() != pdb->msf().stream_size(i).value_or(0)) __builtin_trap();
    if (stream && stream->view().size() > size) __builtin_trap();
    if (!stream && stream.error().offset > size) __builtin_trap();
  }
  const auto sections = pe::PdbSections::read(*pdb, findings);
  const auto publics = pe::read_public_symbols(*pdb, sections, findings);
  u64 text = 0;
  for (const auto& symbol : publics.symbols) text += symbol.name.size() + 12;
  if (text > publics.records.view().size()) __builtin_trap();
  u64 code = 0;
  u64 parts = 0;
  pe::read_procedures(
      *pdb, sections,
      [&](const pe::Procedure& one) {
        (one.kind == pe::Procedure::Kind::cold_part ? parts : code) += one.name.size() + 30;
      },
      findings);
  if (code > size || parts > size * 2) __builtin_trap();
  for (const auto& finding : findings.all())
    if (finding.first_offset.value_or(0) > size) __builtin_trap();
  return 0;
}
