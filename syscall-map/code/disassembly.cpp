#include "syscall-map/code/disassembly.hpp"

#include <algorithm>

namespace coldtrace::syscall_map {

Disassembler::Disassembler(const pe::Image& image)
    : image_{image}, supported_{supports(image.machine())} {
  const bool wide = image.machine() == pe::Machine::amd64;
  ZydisDecoderInit(&decoder_, wide ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32,
                   wide ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32);
}

bool Disassembler::supports(pe::Machine machine) {
  return machine == pe::Machine::i386 || machine == pe::Machine::amd64;
}

std::optional<Instruction> Disassembler::decode(pe::Rva rva) const {
  if (!supported_) return std::nullopt;
  const auto code = image_.bytes(rva, ZYDIS_MAX_INSTRUCTION_LENGTH);
  Instruction instruction;
  instruction.rva = rva;
  const auto status = ZydisDecoderDecodeFull(
      &decoder_, code.data(), std::min<std::size_t>(code.size(), ZYDIS_MAX_INSTRUCTION_LENGTH),
      &instruction.info, instruction.operands);
  if (!ZYAN_SUCCESS(status)) return std::nullopt;
  return instruction;
}

std::optional<u64> Disassembler::address(const Instruction& instruction,
                                         const ZydisDecodedOperand& operand) const {
  ZyanU64 address = 0;
  const auto status = ZydisCalcAbsoluteAddress(
      &instruction.info, &operand, image_.optional_header().image_base + value(instruction.rva),
      &address);
  if (!ZYAN_SUCCESS(status)) return std::nullopt;
  return image_.optional_header().pe32_plus ? address : address & 0xffff'ffff;
}

std::optional<pe::Rva> Disassembler::branch_target(const Instruction& instruction) const {
  const auto& operand = instruction.operands[0];
  if (operand.type != ZYDIS_OPERAND_TYPE_IMMEDIATE || !operand.imm.is_relative) return std::nullopt;
  const auto target = address(instruction, operand);
  return target ? image_.rva_of_address(*target) : std::nullopt;
}

std::string Disassembler::text(const Instruction& instruction) const {
  ZydisFormatter formatter;
  ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL);
  char buffer[256];
  const auto status = ZydisFormatterFormatInstruction(
      &formatter, &instruction.info, instruction.operands, instruction.info.operand_count_visible,
      buffer, sizeof buffer, image_.optional_header().image_base + value(instruction.rva), nullptr);
  return ZYAN_SUCCESS(status) ? buffer : std::string{};
}

}  // namespace coldtrace::syscall_map
