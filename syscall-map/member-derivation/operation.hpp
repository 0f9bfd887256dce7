#pragma once

#include <optional>

#include "coldtrace/pe/rva.hpp"

namespace coldtrace::syscall_map {

// An instruction, as far as pointers to structures need it, in one form for x86, x64 and ARM64.
struct Operation {
  // What happens to the register `to`. Every other register in `written` loses its value.
  enum class Effect : u8 {
    none,
    copy,     // of `from`
    load,     // what is at `from` + `displacement`, or at `place`; of a pointer's size
    address,  // `from` + `displacement`
    push,     // of `from`
    pop,
    store,  // of `stored`, at `from` + `displacement`; of a pointer's size
    leave,
  };
  enum class Flow : u8 { next, conditional, jump, call, end };

  static constexpr u8 no_register = 0xff;
  static constexpr u8 control_region = 32;  // the segment with the processor's control region
  static constexpr u8 registers = 33;

  pe::Rva rva{};
  u8 length = 0;
  Effect effect = Effect::none;
  Flow flow = Flow::next;
  u8 to = no_register, from = no_register, stored = no_register;
  bool uses_memory = false;  // with `from` as base and no index, or its address: `displacement`
  i64 displacement = 0;
  u8 second = 0;                  // of a pair: the distance of its second access from the first
  u64 written = 0;                // registers, one bit each
  u32 popped = 0;                 // bytes of arguments, by an x86 return
  std::optional<pe::Rva> target;  // of a direct branch
  std::optional<pe::Rva> place;   // of a load without registers
  u64 shape = 0;                  // equal if only distances, addresses and displacements differ

  pe::Rva end() const { return rva + length; }
};

// Combines several numbers into one, depending on their order.
constexpr u64 mixed(u64 seed, u64 number) {
  u64 x = seed ^ (number + 0x9e3779b97f4a7c15 + (seed << 6) + (seed >> 2));
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace coldtrace::syscall_map
