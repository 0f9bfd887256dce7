#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/integers.hpp"
#include "coldtrace/syscall-map/boundary_state.hpp"
#include "syscall-map/code/disassembly.hpp"
#include "syscall-map/code/function_body.hpp"
#include "syscall-map/code/kernel_code.hpp"

namespace coldtrace::syscall_map {

// Where a function begins, and the source of that.
struct FunctionStart {
  pe::Rva rva{};
  std::string name;
  std::string_view source;  // "export directory", "PDB", "service table"
};

// What is known of whether an instruction begins at a place.
struct InstructionBoundary {
  BoundaryState state = BoundaryState::unknown;
  std::optional<pe::Rva> function;  // the start of the one with the place, if known
  std::string function_name;        // empty if nothing names it
  std::vector<std::string> evidence;
};

// Tells for places of one image whether an instruction begins there. Functions begin where .pdata
// or a FunctionStart says; their code is what direct branches reach and what follows calls, which
// are assumed to return. Used only inside this library.
class BoundaryProver {
 public:
  BoundaryProver(const KernelCode& code, const Disassembler& disassembler,
                 std::vector<FunctionStart> starts);

  InstructionBoundary examine(pe::Rva rva);

  // The start of each place among the `size` bytes at `rva` that the loader relocates.
  std::vector<pe::Rva> relocations(pe::Rva rva, u32 size) const;

 private:
  const FunctionStart* start_at(pe::Rva rva) const;
  const FunctionStart* start_before(pe::Rva rva) const;
  void follow(pe::Rva start, const std::string& what, pe::Rva rva, InstructionBoundary& boundary);
  void sweep(const pe::FunctionRange& range, pe::Rva rva, InstructionBoundary& boundary) const;

  const KernelCode& code_;
  const Disassembler& disassembler_;
  std::vector<FunctionStart> starts_;      // ascending
  std::optional<FunctionBody> last_body_;  // callers ask for several places of one function
  pe::Rva last_start_{};
};

}  // namespace coldtrace::syscall_map
