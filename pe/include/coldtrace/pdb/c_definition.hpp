#pragma once

#include <optional>

#include "coldtrace/pdb/placed_members.hpp"
#include "coldtrace/pdb/type_records.hpp"

namespace coldtrace::pe {

// A structure or union that C can define with its actual size.
struct CDefinition {
  Aggregate aggregate;
  MemberPlaces members;

  // Of two empty base classes, the second may lie at the end of a class without other members.
  [[nodiscard]] bool is_empty_base(const PlacedMember& member) const;
};

// The definition of the record `index`: nothing if it is not one, is only declared, has no bytes,
// or has more than compilers accept, which is the finding `pdb-type-range`.
[[nodiscard]] std::optional<CDefinition> find_c_definition(const TypeTable& table, u32 index,
                                                           TypeBudget& budget,
                                                           core::Findings& findings);

// `pdb-type-range` and `pdb-type-size`: members that C cannot place.
void note_left_out(const CDefinition& definition, core::Findings& findings);

}  // namespace coldtrace::pe
