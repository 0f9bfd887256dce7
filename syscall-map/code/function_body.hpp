#pragma once

#include <map>
#include <optional>

#include "syscall-map/code/disassembly.hpp"
#include "syscall-map/code/kernel_code.hpp"

namespace coldtrace::syscall_map {

// An instruction of a function, as far as control flow needs it.
struct FlowInstruction {
  enum class Kind : u8 {
    plain,
    call,
    conditional,  // jcc, loop and the like: to the target, or to the next instruction
    jump,         // to the target; indirect without one
    end,          // ret, iret, int 3 and what does not return
  };

  Kind kind = Kind::plain;
  u8 length = 0;
  bool short_form = false;        // the displacement has one byte
  std::optional<pe::Rva> target;  // of a direct branch or call
};

FlowInstruction to_flow(const Disassembler& disassembler, const Instruction& instruction);

// The instructions reached by direct jumps from the entry of a function, as far as they are in
// executable sections. Jumps to other functions, as known from .pdata and exports, are not
// followed, and at most `limit` instructions are.
class FunctionBody {
 public:
  static constexpr std::size_t limit = 4096;

  FunctionBody(const KernelCode& code, const Disassembler& disassembler, pe::Rva entry);

  const std::map<pe::Rva, FlowInstruction>& instructions() const { return instructions_; }
  bool holds(pe::Rva instruction) const { return instructions_.contains(instruction); }

  // The end of the instructions that follow the entry without a gap.
  pe::Rva end() const { return end_; }

 private:
  std::map<pe::Rva, FlowInstruction> instructions_;
  pe::Rva end_{};
};

}  // namespace coldtrace::syscall_map
