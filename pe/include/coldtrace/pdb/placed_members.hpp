#pragma once

#include "coldtrace/pdb/member_regions.hpp"
#include "coldtrace/pdb/type_members.hpp"

namespace coldtrace::pe {

// What takes place in the structure or union that `index` defines: members, base classes, and the
// pointer to its virtual functions. Those whose size is not known are not among them, nor what a
// virtual base takes: its place depends on the whole object.
std::vector<PlacedMember> placed_members(const TypeTable& table, u32 index, TypeBudget& budget,
                                         core::Findings& findings);

}  // namespace coldtrace::pe
