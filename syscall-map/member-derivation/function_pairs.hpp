#pragma once

#include <string>
#include <utility>
#include <vector>

#include "coldtrace/syscall-map/named_place.hpp"
#include "syscall-map/member-derivation/function_code.hpp"

namespace coldtrace::syscall_map {

// A function of one build and its counterpart in another.
struct FunctionPair {
  std::string name;  // its name, or the call that leads to it: "called by PsGetVersion"
  pe::Rva known{}, target{};
  std::vector<std::pair<u32, u32>> operations;  // the numbers in each of those that agree
};

// Operations that do the same in both: all, if the functions differ only in displacements and
// addresses; else those whose neighbours, `context_reach` on each side, occur nowhere else in
// either function.
inline constexpr std::size_t context_reach = 4;
std::vector<std::pair<u32, u32>> agreeing_operations(const FunctionCode& known,
                                                     const FunctionCode& target);

// The functions with names in both, and those called by agreeing operations of these, if all calls
// of the one correspond to the same other.
std::vector<FunctionPair> pair_functions(const FunctionStore& known, const FunctionStore& target,
                                         const std::vector<std::pair<NamedPlace, pe::Rva>>& named);

}  // namespace coldtrace::syscall_map
