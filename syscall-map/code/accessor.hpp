#pragma once

#include <optional>
#include <vector>

#include "syscall-map/code/disassembly.hpp"

namespace coldtrace::syscall_map {

// What a small function returns, as a chain of offsets from the first argument or the processor's
// control region (KPCR). "*(argument + 8) + 4" is the chain {8, 4} whose last offset is added, not
// followed.
struct AccessorValue {
  enum class Start : u8 { argument, control_region };

  Start start = Start::argument;
  std::vector<u32> way;       // offsets; each, but perhaps the last, is that of a value read
  bool address = false;       // the last offset is added, nothing is read there
  u32 instructions = 0;       // evaluated
  bool through_call = false;  // another function was called or jumped to
};

// Evaluates the function at `rva` symbolically: moves, additions, the stack, calls of functions of
// this kind, direct jumps. Nothing if it does anything else, or more than a small function does.
std::optional<AccessorValue> read_accessor(const pe::Image& image, const Disassembler& disassembler,
                                           pe::Rva rva);

}  // namespace coldtrace::syscall_map
