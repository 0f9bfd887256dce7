#pragma once

#include <optional>
#include <string>
#include <vector>

#include <Zydis/Zydis.h>

#include "coldtrace/pe/module_dump.hpp"
#include "coldtrace/syscall-map/dump_check.hpp"

namespace coldtrace::syscall_map {

// Where the code of a dump continues from a place.
struct CodeStep {
  ChangeKind kind = ChangeKind::code;
  std::optional<u64> target;  // of a jump or call, if known
};

// x86 and x64.
class DumpedX86 {
 public:
  explicit DumpedX86(const pe::ModuleDump& dump, bool wide);

  // What the code from `start` on does, up to the first jump or call that begins before `end`.
  CodeStep look(pe::Rva start, pe::Rva end) const;
  // The instructions from `start` on that begin before `end`.
  std::vector<std::string> disassemble(pe::Rva start, pe::Rva end) const;

 private:
  struct Decoded {
    ZydisDecodedInstruction info{};
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT]{};
    u64 address = 0;
  };
  class Registers;

  std::optional<Decoded> decode(pe::Rva rva) const;
  std::optional<u64> address_of(const Decoded& instruction,
                                const ZydisDecodedOperand& operand) const;
  std::optional<u64> value_of(const Decoded& instruction, const ZydisDecodedOperand& operand,
                              const Registers& registers) const;

  const pe::ModuleDump& dump_;
  bool wide_;
  ZydisDecoder decoder_{};
};

// ARM64: a branch, or a branch to a register loaded before it.
CodeStep look_at_arm64(const pe::ModuleDump& dump, pe::Rva start, pe::Rva end);

}  // namespace coldtrace::syscall_map
