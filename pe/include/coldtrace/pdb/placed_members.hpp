#pragma once

#include "coldtrace/pdb/member_regions.hpp"
#include "coldtrace/pdb/type_members.hpp"

namespace coldtrace::pe {

// A member whose bytes are unknown.
struct UnplacedMember {
  enum class Why : u8 {
    size,  // its type is only declared, or damaged
    bits,  // they are not inside their integer
  };
  std::string_view name;
  u32 type;
  u64 offset;
  Why why;
};

// Members of a type by place, and those that have no place in it.
struct MemberPlaces {
  std::vector<PlacedMember> placed;
  std::vector<UnplacedMember> unplaced;
};

// What occupies bytes of the structure or union that `index` defines: members, base classes, and
// the pointer to its virtual functions. Virtual bases are not included: their place depends on the
// whole object.
MemberPlaces placed_members(const TypeTable& table, u32 index, TypeBudget& budget,
                            core::Findings& findings);

}  // namespace coldtrace::pe
