#pragma once

#include <functional>
#include <string>

#include "coldtrace/pdb/type_members.hpp"

namespace coldtrace::pe {

// A member of a structure or union as symbol tables of Volatility 3 list it: they know no base
// classes.
struct IsfField {
  std::string name;  // valid UTF-8, not empty
  u64 offset;        // from the start of the type
  u32 type;
};

// Calls `take` for the members that the definition `index` has, and then for those of its base
// classes, 16 levels of them: no name twice, the type's own before that of a base class. Findings
// are those of visit_members(); base classes beyond 64 bits are `pdb-type-range`.
void visit_isf_fields(const TypeTable& table, u32 index, TypeBudget& budget,
                      core::Findings& findings, const std::function<void(const IsfField&)>& take);

}  // namespace coldtrace::pe
