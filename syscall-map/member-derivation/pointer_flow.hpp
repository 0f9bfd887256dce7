#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string_view>

#include "syscall-map/member-derivation/function_code.hpp"
#include "syscall-map/member-derivation/structure_layout.hpp"

namespace coldtrace::syscall_map {

// What the arguments of a function point to: first those in registers, in order, then, on x86,
// those on the stack.
inline constexpr std::size_t most_arguments = 10;
using ArgumentTypes = std::array<std::optional<u32>, most_arguments>;

// The index of argument `number` of a function that is not fastcall.
std::size_t argument_place(const OperationReader& reader, u32 number);

// What the flow analysis needs to know from outside a function.
struct FlowSurroundings {
  const FunctionStore* functions = nullptr;
  const StructureLayout* layout = nullptr;
  std::function<std::string_view(pe::Rva)> name_of;  // of a function or variable; may be empty
};

struct FlowVisitor {
  // Called for an operation that reads, writes or takes the address of what is `displacement` bytes
  // from the start of the structure.
  std::function<void(std::size_t operation, u32 structure)> use;
  // Called with what is passed to a function by a call or a tail jump.
  std::function<void(pe::Rva callee, const ArgumentTypes&)> call;
};

// Follows pointers to structures along every path through a function: where paths meet, a register
// has a pointer if it has the same one on all of them.
void follow_pointers(const FunctionCode& function, pe::Rva entry, const ArgumentTypes& arguments,
                     const FlowSurroundings& surroundings, const FlowVisitor& visitor);

}  // namespace coldtrace::syscall_map
