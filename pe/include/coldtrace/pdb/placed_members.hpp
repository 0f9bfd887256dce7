#pragma once

#include "coldtrace/pdb/member_regions.hpp"
#include "coldtrace/pdb/type_members.hpp"

namespace coldtrace::pe {

// A member whose bytes are not known.
struct UnplacedMember {
  enum class Why : u8 {
    size,  // it is of a type that is only declared, or damaged
    bits,  // they do not lie in their integer
  };
  std::string_view name;
  u32 type;
  u64 offset;
  Why why;
};

// Members of a type by place, and those that have none in it.
struct MemberPlaces {
  std::vector<PlacedMember> placed;
  std::vector<UnplacedMember> unplaced;
};

// What takes place in the structure or union that `index` defines: members, base classes, and the
// pointer to its virtual functions. What a virtual base takes is not among them: its place depends
// on the whole object.
MemberPlaces placed_members(const TypeTable& table, u32 index, TypeBudget& budget,
                            core::Findings& findings);

}  // namespace coldtrace::pe
