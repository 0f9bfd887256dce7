#include "coldtrace/pdb/c_definition.hpp"

#include <algorithm>

#include "coldtrace/core/text.hpp"

namespace coldtrace::pe {
namespace {

constexpr std::size_t most_name = 256;  // of a name in a finding

// In bytes: of clang for targets of 64 bits, and of all compilers for those of 32.
u64 largest_object(const TypeTable& table) {
  return table.pointer_size() == 8 ? (u64{1} << 61) - 1 : 0x7fff'ffff;
}

std::string shown(std::string_view name) {
  return core::to_valid_utf8(name.substr(0, most_name));
}

void note_range(const Aggregate& aggregate, std::string_view what, core::Findings& findings) {
  findings.warning("pdb-type-range", std::nullopt, "{} of {:#x} bytes {}", shown(aggregate.name),
                   aggregate.size, what);
}

void note_unplaced(const Aggregate& aggregate, const UnplacedMember& member,
                   core::Findings& findings) {
  if (member.why == UnplacedMember::Why::size)
    findings.info("pdb-type-size", std::nullopt, "{}.{}: its size is unknown, and it is left out",
                  shown(aggregate.name), shown(member.name));
  else
    findings.warning("pdb-type-range", std::nullopt,
                     "{}.{}: its bits lie outside their integer, and it is left out",
                     shown(aggregate.name), shown(member.name));
}

}  // namespace

bool CDefinition::is_empty_base(const PlacedMember& member) const {
  return member.name.empty() && member.size == 1 && member.offset == aggregate.size;
}

std::optional<CDefinition> find_c_definition(const TypeTable& table, u32 index, TypeBudget& budget,
                                             core::Findings& findings) {
  const auto* const record = table.find_record(index);
  const auto aggregate = record != nullptr ? read_aggregate(*record) : std::nullopt;
  if (!aggregate || aggregate->forward() || aggregate->size == 0) return std::nullopt;
  if (aggregate->size > largest_object(table)) {
    note_range(*aggregate, "is larger than compilers accept, and is only declared", findings);
    return std::nullopt;
  }
  return CDefinition{*aggregate, placed_members(table, index, budget, findings)};
}

void note_left_out(const CDefinition& definition, core::Findings& findings) {
  const auto& [aggregate, members] = definition;
  if (!std::ranges::all_of(members.placed, [&](const PlacedMember& one) {
        return one.lies_within(definition.aggregate.size) || definition.is_empty_base(one);
      }))
    note_range(aggregate, "has members that extend beyond it and are left out", findings);
  for (const auto& member : members.unplaced) note_unplaced(aggregate, member, findings);
}

}  // namespace coldtrace::pe
