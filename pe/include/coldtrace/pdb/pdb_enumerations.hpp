#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/pdb/pdb.hpp"

namespace coldtrace::pe {

// An enumeration of a PDB's types; the names are views that are valid during the call.
struct PdbEnumeration {
  struct Value {
    std::string_view name;
    u64 number;  // sign-extended
  };
  std::string_view name;
  std::vector<Value> values;
};

// Calls `take` for the enumerations with these names, the first definition of each. A record that
// cannot be read ends its enumeration, damage of the stream ends all of them: the finding
// `pdb-types`. Sources: microsoft-pdb, cvinfo.h, lfEnum and lfEnumerate; LLVM, "The PDB TPI and IPI
// Streams".
void visit_enumerations(const Pdb& pdb, const std::set<std::string, std::less<>>& names,
                        core::Findings& findings,
                        const std::function<void(const PdbEnumeration&)>& take);

}  // namespace coldtrace::pe
