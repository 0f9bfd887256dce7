#include <algorithm>
#include <map>

#include "syscall-map/changed-code/dumped_code.hpp"

namespace coldtrace::syscall_map {
namespace {

constexpr std::size_t most_instructions = 8;

}  // namespace

// Constants that code has put into registers and on the stack.
class DumpedX86::Registers {
 public:
  void set(ZydisRegister name, std::optional<u64> value) {
    name = whole(name);
    value ? void(values_[name] = *value) : void(values_.erase(name));
  }
  std::optional<u64> get(ZydisRegister name) const {
    const auto found = values_.find(whole(name));
    return found == values_.end() ? std::nullopt : std::optional{found->second};
  }

  std::optional<u64> pushed;  // on top of the stack

 private:
  static ZydisRegister whole(ZydisRegister name) {
    return ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, name);
  }

  std::map<ZydisRegister, u64> values_;
};

DumpedX86::DumpedX86(const pe::ModuleDump& dump, bool wide) : dump_{dump}, wide_{wide} {
  ZydisDecoderInit(&decoder_, wide ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32,
                   wide ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32);
}

std::optional<DumpedX86::Decoded> DumpedX86::decode(pe::Rva rva) const {
  const auto code = dump_.present(rva, ZYDIS_MAX_INSTRUCTION_LENGTH);
  Decoded instruction;
  instruction.address = dump_.base() + value(rva);
  const auto status = ZydisDecoderDecodeFull(&decoder_, code.data(), code.size(), &instruction.info,
                                             instruction.operands);
  return ZYAN_SUCCESS(status) ? std::optional{instruction} : std::nullopt;
}

std::optional<u64> DumpedX86::address_of(const Decoded& instruction,
                                         const ZydisDecodedOperand& operand) const {
  ZyanU64 address = 0;
  if (!ZYAN_SUCCESS(
          ZydisCalcAbsoluteAddress(&instruction.info, &operand, instruction.address, &address)))
    return std::nullopt;
  return wide_ ? address : address & 0xffff'ffff;
}

std::optional<u64> DumpedX86::value_of(const Decoded& instruction,
                                       const ZydisDecodedOperand& operand,
                                       const Registers& registers) const {
  switch (operand.type) {
    case ZYDIS_OPERAND_TYPE_IMMEDIATE:
      if (operand.imm.is_relative) return address_of(instruction, operand);
      return wide_ ? operand.imm.value.u : operand.imm.value.u & 0xffff'ffff;
    case ZYDIS_OPERAND_TYPE_REGISTER:
      return registers.get(operand.reg.value);
    case ZYDIS_OPERAND_TYPE_MEMORY: {
      const auto address = address_of(instruction, operand);
      if (!address || instruction.info.mnemonic == ZYDIS_MNEMONIC_LEA) return address;
      const auto rva = dump_.rva_of_address(*address);
      return rva ? dump_.pointer(*rva) : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

CodeStep DumpedX86::look(pe::Rva start, pe::Rva end) const {
  Registers registers;
  bool only_nops = true;
  bool only_constants = true;
  auto rva = start;
  for (std::size_t i = 0; i < most_instructions && rva < end; ++i) {
    const auto instruction = decode(rva);
    if (!instruction) return {};
    const auto& first = instruction->operands[0];
    const auto& second = instruction->operands[1];
    switch (instruction->info.mnemonic) {
      case ZYDIS_MNEMONIC_INT3:
      case ZYDIS_MNEMONIC_INT1:
        return {ChangeKind::breakpoint, std::nullopt};
      case ZYDIS_MNEMONIC_INT:
        if (first.imm.value.u == 3) return {ChangeKind::breakpoint, std::nullopt};
        return {};
      case ZYDIS_MNEMONIC_NOP:
        break;
      case ZYDIS_MNEMONIC_JMP:
        return {ChangeKind::jump, value_of(*instruction, first, registers)};
      case ZYDIS_MNEMONIC_CALL:
        return {ChangeKind::call, value_of(*instruction, first, registers)};
      case ZYDIS_MNEMONIC_RET:
        if (registers.pushed) return {ChangeKind::jump, registers.pushed};
        return {only_constants ? ChangeKind::returns : ChangeKind::code, std::nullopt};
      case ZYDIS_MNEMONIC_PUSH:
        registers.pushed = value_of(*instruction, first, registers);
        only_nops = only_constants = false;
        break;
      case ZYDIS_MNEMONIC_MOV:
      case ZYDIS_MNEMONIC_LEA:
        only_nops = false;
        if (first.type == ZYDIS_OPERAND_TYPE_REGISTER) {
          registers.set(first.reg.value, value_of(*instruction, second, registers));
          break;
        }
        only_constants = false;
        // push low; mov dword [rsp+4], high: an address of 64 bits.
        if (wide_ && registers.pushed && first.mem.base == ZYDIS_REGISTER_RSP &&
            first.mem.disp.value == 4 && second.type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
          registers.pushed =
              (*registers.pushed & 0xffff'ffff) | ((second.imm.value.u & 0xffff'ffff) << 32);
        break;
      case ZYDIS_MNEMONIC_XOR:
      case ZYDIS_MNEMONIC_SUB:
        only_nops = false;
        if (first.type != ZYDIS_OPERAND_TYPE_REGISTER || second.type != first.type ||
            first.reg.value != second.reg.value)
          return {};
        registers.set(first.reg.value, 0);
        break;
      default:
        if (instruction->info.meta.category == ZYDIS_CATEGORY_COND_BR)
          return {ChangeKind::jump, value_of(*instruction, first, registers)};
        only_nops = only_constants = false;
    }
    rva = rva + instruction->info.length;
  }
  return {only_nops && rva > start ? ChangeKind::nop : ChangeKind::code, std::nullopt};
}

std::vector<std::string> DumpedX86::disassemble(pe::Rva start, pe::Rva end) const {
  ZydisFormatter formatter;
  ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL);
  std::vector<std::string> lines;
  for (auto rva = start; rva < end && lines.size() < most_instructions;) {
    const auto instruction = decode(rva);
    if (!instruction) break;
    char buffer[256];
    if (!ZYAN_SUCCESS(
            ZydisFormatterFormatInstruction(&formatter, &instruction->info, instruction->operands,
                                            instruction->info.operand_count_visible, buffer,
                                            sizeof buffer, instruction->address, nullptr)))
      break;
    lines.emplace_back(buffer);
    rva = rva + instruction->info.length;
  }
  return lines;
}

}  // namespace coldtrace::syscall_map
