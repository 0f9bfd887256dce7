#pragma once

#include <optional>
#include <string>

#include "coldtrace/core/integers.hpp"
#include "coldtrace/pe/rva.hpp"

namespace coldtrace::syscall_map {

// Where an instruction sends the flow of control.
enum class BranchKind : u8 { none, conditional, jump, call, ret };

[[nodiscard]] std::string_view to_string(BranchKind kind);

// Whether the emulator of Windows 10 1903 is known to execute an instruction.
enum class EmulatorSupport : u8 { unknown, known };

[[nodiscard]] std::string_view to_string(EmulatorSupport support);

// What is to be done in place of an instruction whose first byte became INT 3.
struct TraceEmulation {
  std::string mnemonic;  // "movzx"
  std::string category;  // as Zydis groups instructions: "dataxfer", "push", "cond_br"
  u8 prefix_bytes = 0;   // before the opcode, REX among them
  BranchKind branch = BranchKind::none;
  std::optional<pe::Rva> target;  // that it jumps to, or that memory relative to rip is at
  bool rip_relative = false;      // it reads or writes at a distance from itself
  bool reads_memory = false;      // the stack too
  bool writes_memory = false;
  bool moves_stack = false;  // it writes rsp or esp
  bool privileged = false;   // it must run in ring 0
  EmulatorSupport emulator = EmulatorSupport::unknown;
};

}  // namespace coldtrace::syscall_map
