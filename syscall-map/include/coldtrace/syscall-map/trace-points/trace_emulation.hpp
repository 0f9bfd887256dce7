#pragma once

#include <optional>
#include <string>

#include "coldtrace/core/integers.hpp"
#include "coldtrace/pe/rva.hpp"

namespace coldtrace::syscall_map {

// Where an instruction transfers control.
enum class BranchKind : u8 { none, conditional, jump, call, ret };

[[nodiscard]] std::string_view to_string(BranchKind kind);

// Whether the emulator of Windows 10 1903 is known to execute an instruction.
enum class EmulatorSupport : u8 { unknown, known };

[[nodiscard]] std::string_view to_string(EmulatorSupport support);

// What to do in place of an instruction whose first byte was replaced with INT 3.
struct TraceEmulation {
  std::string mnemonic;  // "movzx"
  std::string category;  // Zydis's groups of instructions: "dataxfer", "push", "cond_br"
  u8 prefix_bytes = 0;   // before the opcode, including REX
  BranchKind branch = BranchKind::none;
  std::optional<pe::Rva> target;  // of its jump, or of memory relative to rip
  bool rip_relative = false;      // it reads or writes at a distance from itself
  bool reads_memory = false;      // including the stack
  bool writes_memory = false;
  bool moves_stack = false;  // it writes rsp or esp
  bool privileged = false;   // it must run in ring 0
  EmulatorSupport emulator = EmulatorSupport::unknown;
};

}  // namespace coldtrace::syscall_map
