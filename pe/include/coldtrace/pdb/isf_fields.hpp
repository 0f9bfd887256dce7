#pragma once

#include <functional>
#include <string>

#include "coldtrace/pdb/type_members.hpp"

namespace coldtrace::pe {

// A member of a structure or union as in symbol tables of Volatility 3, which have no base classes.
struct IsfField {
  std::string name;  // valid UTF-8, not empty
  u64 offset;        // from the start of the type
  u32 type;
};

// Calls `take` for the members of the definition `index`, and then for those of its base classes,
// to 16 levels. No name is given twice: the type's own take precedence over those of a base class.
// Findings are those of visit_members(); base classes beyond 64 bits are `pdb-type-range`.
void visit_isf_fields(const TypeTable& table, u32 index, TypeBudget& budget,
                      core::Findings& findings, const std::function<void(const IsfField&)>& take);

}  // namespace coldtrace::pe
