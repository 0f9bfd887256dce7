#include "syscall-map/trace-points/instruction_emulation.hpp"

#include "coldtrace/core/ascii.hpp"

namespace coldtrace::syscall_map {
namespace {

// "Dynamic Tracing in Windows 10 19H1" names KiTpEmulateMovzx "and many more", in a 64-bit kernel.
constexpr ZydisMnemonic known_to_the_emulator[] = {ZYDIS_MNEMONIC_MOVZX};

std::string lower(const char* text) {
  return core::to_lower(text == nullptr ? "" : text);
}

BranchKind branch_of(const Instruction& instruction) {
  switch (instruction.info.meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
      return BranchKind::conditional;
    case ZYDIS_CATEGORY_UNCOND_BR:
      return BranchKind::jump;
    case ZYDIS_CATEGORY_CALL:
      return BranchKind::call;
    case ZYDIS_CATEGORY_RET:
      return BranchKind::ret;
    default:
      return BranchKind::none;
  }
}

bool is_stack_pointer(const ZydisDecodedOperand& operand) {
  return operand.type == ZYDIS_OPERAND_TYPE_REGISTER &&
         (operand.reg.value == ZYDIS_REGISTER_RSP || operand.reg.value == ZYDIS_REGISTER_ESP);
}

}  // namespace

TraceEmulation describe_emulation(const pe::Image& image, const Disassembler& disassembler,
                                  const Instruction& instruction) {
  TraceEmulation emulation;
  const auto& info = instruction.info;
  emulation.mnemonic = lower(ZydisMnemonicGetString(info.mnemonic));
  emulation.category = lower(ZydisCategoryGetString(info.meta.category));
  emulation.prefix_bytes = info.raw.prefix_count;
  emulation.branch = branch_of(instruction);
  emulation.target = disassembler.branch_target(instruction);
  emulation.privileged = (info.attributes & ZYDIS_ATTRIB_IS_PRIVILEGED) != 0;
  for (u8 i = 0; i < info.operand_count; ++i) {
    const auto& operand = instruction.operands[i];
    const bool reads = (operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
    const bool writes = (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
    if (is_stack_pointer(operand)) emulation.moves_stack |= writes;
    if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY) continue;
    emulation.reads_memory |= reads;
    emulation.writes_memory |= writes;
    if (operand.mem.base != ZYDIS_REGISTER_RIP) continue;
    emulation.rip_relative = true;
    const auto address = disassembler.address(instruction, operand);
    if (address) emulation.target = image.rva_of_address(*address);
  }
  for (const auto mnemonic : known_to_the_emulator)
    if (image.machine() == pe::Machine::amd64 && info.mnemonic == mnemonic)
      emulation.emulator = EmulatorSupport::known;
  return emulation;
}

}  // namespace coldtrace::syscall_map
