#pragma once

#include <optional>
#include <span>
#include <string>

#include "syscall-map/code/disassembly.hpp"
#include "syscall-map/member-derivation/operation.hpp"

namespace coldtrace::syscall_map {

// Reads the code of an image, one operation at a time. A view: the image has to outlive it.
class OperationReader {
 public:
  explicit OperationReader(const pe::Image& image);

  static bool supports(pe::Machine machine);

  // Nothing if the bytes are not an instruction, or not executable.
  std::optional<Operation> read(pe::Rva rva) const;

  // In the syntax of the machine's vendor if it can be disassembled, as bytes otherwise.
  std::string text(const Operation& operation) const;

  const pe::Image& image() const { return image_; }
  u8 pointer_size() const { return pointer_size_; }
  u8 stack_pointer() const;
  std::span<const u8> arguments() const;  // registers in which functions take arguments
  u64 volatile_registers() const;         // those that a call may change
  u8 result() const { return 0; }         // rax, eax, x0

 private:
  Operation read_x86(const Instruction& instruction) const;
  u64 shape_of(const Instruction& instruction) const;
  void read_place(const Instruction& instruction, const ZydisDecodedOperand& operand,
                  Operation& operation) const;
  void read_effect(const Instruction& instruction, const ZydisDecodedOperand* memory,
                   Operation& operation) const;
  std::optional<u8> pointer_register(const Instruction& instruction, u32 index) const;

  const pe::Image& image_;
  Disassembler disassembler_;
  pe::Machine machine_;
  u8 pointer_size_;
};

// An instruction word of ARM64.
Operation read_arm64_operation(pe::Rva rva, u32 word);

}  // namespace coldtrace::syscall_map
