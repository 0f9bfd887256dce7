// Any bytes as a PDB: no crash, no hang; what is said of types is bounded, and regions hold each
// member at its place.

#include "coldtrace/pdb/placed_members.hpp"
#include "coldtrace/pdb/type_comparison.hpp"
#include "coldtrace/pdb/type_layers.hpp"
#include "coldtrace/pdb/type_selection.hpp"

namespace {

using namespace coldtrace;

void check(const pe::Region& region, const std::vector<pe::PlacedMember>& members) {
  for (const auto& part : region.parts) {
    if (part.offset < region.offset || part.size > region.offset + region.size - part.offset)
      __builtin_trap();
    for (const auto number : part.members)
      if (members[number].offset != part.offset) __builtin_trap();
    check(part, members);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const core::ByteView file = std::as_bytes(std::span{data, size});
  core::Findings findings;
  const auto pdb = pe::Pdb::open(file, findings);
  if (!pdb) return 0;
  const auto table = pe::TypeTable::read(*pdb, findings);
  if (!table) return 0;
  if (table->count() > size / 4) __builtin_trap();
  u64 said = 0;
  pe::TypeBudget budget{*table};
  for (const auto& type : pe::select_types(*table, {}, findings)) {
    pe::visit_members(
        *table, type.index, {2, false}, budget, findings, [&](const pe::TypeMember& member) {
          said += member.name.size() + 32;
          if (pe::to_text(*table, member.field.type).size() > pe::longest_type_text + 3)
            __builtin_trap();
          if (pe::layers_of(*table, member.field.type).size() > pe::most_layers) __builtin_trap();
        });
    const auto aggregate = pe::read_aggregate(*table->find_record(type.index));
    if (!aggregate) continue;
    pe::TypeBudget of_regions{*table};
    const auto members = pe::placed_members(*table, type.index, of_regions, findings).placed;
    const auto is_union = aggregate->kind == pe::AggregateKind::union_;
    check(pe::regions_of(members, aggregate->size, is_union), members);
  }
  if (said > table->size() * 32 + (u64{1} << 20)) __builtin_trap();
  if (!pe::compare_types(*table, *table, {}, findings).changes.empty() &&
      findings.count("pdb-type-limit") == 0)
    __builtin_trap();
  return 0;
}
