#pragma once

#include <string>
#include <utility>
#include <vector>

#include "coldtrace/syscall-map/named_place.hpp"
#include "syscall-map/member-derivation/function_code.hpp"

namespace coldtrace::syscall_map {

// A function of one build and the same of another.
struct FunctionPair {
  std::string name;  // as it is called, or as the call of one that is: "called by PsGetVersion"
  pe::Rva known{}, target{};
  std::vector<std::pair<u32, u32>> operations;  // of each, the numbers of those that agree
};

// Operations that do the same in both: all, where the functions differ in nothing but distances and
// addresses; else those whose neighbours, `context_reach` on each side, stand nowhere else in
// either function.
inline constexpr std::size_t context_reach = 4;
std::vector<std::pair<u32, u32>> agreeing_operations(const FunctionCode& known,
                                                     const FunctionCode& target);

// The functions that have names in both, and those that agreeing operations of such call, where
// all calls of the one lead to the same other.
std::vector<FunctionPair> pair_functions(const FunctionStore& known, const FunctionStore& target,
                                         const std::vector<std::pair<NamedPlace, pe::Rva>>& named);

}  // namespace coldtrace::syscall_map
