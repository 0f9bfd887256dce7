#pragma once

#include <map>
#include <string>
#include <vector>

#include "coldtrace/syscall-map/named_place.hpp"
#include "syscall-map/member-derivation/function_pairs.hpp"
#include "syscall-map/member-derivation/pointer_flow.hpp"

namespace coldtrace::syscall_map {

// An operation that uses what lies at an offset in a structure.
struct StructureUse {
  std::size_t pair;  // index of the pair of functions
  std::size_t operation;
  u32 structure;
};

// The uses in the first functions of all pairs. Which arguments are pointers to structures is known
// from the prototypes of documented functions, and from calls of one of the functions by another:
// an argument that is passed pointers to different structures has none.
std::vector<StructureUse> find_structure_uses(const std::vector<FunctionPair>& pairs,
                                              const FunctionStore& functions,
                                              const StructureLayout& layout,
                                              const std::vector<NamedPlace>& names);

}  // namespace coldtrace::syscall_map
