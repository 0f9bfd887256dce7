#pragma once

#include <optional>
#include <string>

#include <Zydis/Zydis.h>

#include "coldtrace/pe/image.hpp"

namespace coldtrace::syscall_map {

// One instruction of x86 or x64 code, with all its operands.
struct Instruction {
  pe::Rva rva{};
  ZydisDecodedInstruction info{};
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT]{};

  pe::Rva end() const { return rva + info.length; }
};

// Decodes the code of an image, one instruction at a time. Used only inside this library, so that
// its users do not need Zydis.
class Disassembler {
 public:
  explicit Disassembler(const pe::Image& image);

  // x86 and x64; nothing is decoded in images for other machines.
  static bool supports(pe::Machine machine);

  // Nothing if the bytes at `rva` are not an instruction or end inside it.
  std::optional<Instruction> decode(pe::Rva rva) const;

  // The absolute address, at the preferred base, that an operand names: where a direct jump or call
  // leads, or what a memory operand without registers, or relative to rip, refers to.
  std::optional<u64> address(const Instruction& instruction,
                             const ZydisDecodedOperand& operand) const;

  // Where a direct jump, conditional jump or call leads, if inside the image.
  std::optional<pe::Rva> branch_target(const Instruction& instruction) const;

  // In Intel syntax, with addresses at the preferred base.
  std::string text(const Instruction& instruction) const;

 private:
  const pe::Image& image_;
  ZydisDecoder decoder_{};
  bool supported_ = false;
};

}  // namespace coldtrace::syscall_map
