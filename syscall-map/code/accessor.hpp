#pragma once

#include <optional>
#include <vector>

#include "syscall-map/code/disassembly.hpp"

namespace coldtrace::syscall_map {

// What a small function returns, followed from where it starts: the first argument or the
// processor's control region (KPCR), then a way of offsets. "*(argument + 8) + 4" is the way
// {8, 4} of which the last offset is added and not followed.
struct AccessorValue {
  enum class Start : u8 { argument, control_region };

  Start start = Start::argument;
  std::vector<u32> way;       // offsets, each but perhaps the last that of a pointer or field read
  bool address = false;       // the last offset was added, and nothing read there
  u32 instructions = 0;       // that were executed
  bool through_call = false;  // another function was called or jumped to
};

// Evaluates the function at `rva` symbolically: moves, additions, the stack, calls of functions
// that are alike, direct jumps. Nothing when it does anything else, or more than a small function
// does.
std::optional<AccessorValue> read_accessor(const pe::Image& image, const Disassembler& disassembler,
                                           pe::Rva rva);

}  // namespace coldtrace::syscall_map
