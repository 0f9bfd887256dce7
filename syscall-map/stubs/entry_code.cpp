#include "syscall-map/stubs/entry_code.hpp"

#include "coldtrace/core/hex.hpp"
#include "syscall-map/code/disassembly.hpp"

namespace coldtrace::syscall_map {
namespace {

using Kind = EntryCode::Kind;

// Hooks seen in the field take at most: mov r10, rcx; mov eax, n; mov reg, address; jmp reg.
constexpr int most_instructions = 4;

// A move to the lower half of a register of 64 bits clears the upper one.
ZydisRegister whole(ZydisRegister name) {
  return ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, name);
}

// Of operands that are extended to 64 bits.
constexpr u64 cut(u64 value, u32 bits) {
  return bits == 32 ? value & 0xffffffff : value;
}

class EntryReader {
 public:
  EntryReader(const pe::Image& image, pe::Rva rva, const FindImport& find_import)
      : image_{image}, at_{rva}, find_import_{find_import}, disassembler_{image} {}

  EntryCode read() {
    const auto first = image_.bytes(at_, 8);
    const auto shown = core::to_hex(first);
    for (int i = 0; i < most_instructions; ++i) {
      const auto instruction = disassembler_.decode(at_);
      if (!instruction) break;
      if (const auto entry = understand(*instruction)) return *entry;
      if (!passes_on(*instruction)) break;
      at_ = instruction->end();
    }
    return {Kind::code, {}, {}, {}, "code " + shown};
  }

 private:
  // The answer when this instruction gives it.
  std::optional<EntryCode> understand(const Instruction& instruction) const {
    const auto& operand = instruction.operands[0];
    switch (instruction.info.mnemonic) {
      case ZYDIS_MNEMONIC_INT3:
        return EntryCode{Kind::breakpoint, {}, {}, {}, "int3"};
      case ZYDIS_MNEMONIC_INT:
        if (operand.imm.value.u == 3) return EntryCode{Kind::breakpoint, {}, {}, {}, "int 3"};
        return std::nullopt;
      case ZYDIS_MNEMONIC_RET:
        if (pushed_) return jump_to(*pushed_, "push and ret");
        return std::nullopt;
      case ZYDIS_MNEMONIC_JMP:
        break;
      default:
        return std::nullopt;
    }
    if (const auto address = address_of(instruction, operand))
      return operand.type == ZYDIS_OPERAND_TYPE_MEMORY ? jump_through(*address)
                                                       : jump_to(*address, "jmp");
    if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER && operand.size >= 32 &&
        loads(operand.reg.value))
      return jump_to(loaded_value_, "mov and jmp");
    return std::nullopt;
  }

  // Moves, pushes and nops let control reach the next instruction and are remembered.
  bool passes_on(const Instruction& instruction) {
    const auto& to = instruction.operands[0];
    const auto& from = instruction.operands[1];
    switch (instruction.info.mnemonic) {
      case ZYDIS_MNEMONIC_MOV:
        if (to.type != ZYDIS_OPERAND_TYPE_REGISTER) return false;
        load(to, from);
        return from.type != ZYDIS_OPERAND_TYPE_MEMORY;
      case ZYDIS_MNEMONIC_PUSH:
        if (to.type != ZYDIS_OPERAND_TYPE_IMMEDIATE) return false;
        pushed_ = cut(to.imm.value.u, image_.optional_header().pointer_size() == 8 ? 64 : 32);
        return true;
      case ZYDIS_MNEMONIC_NOP:
      case ZYDIS_MNEMONIC_ENDBR32:
      case ZYDIS_MNEMONIC_ENDBR64:
        return true;
      default:
        return false;
    }
  }

  void load(const ZydisDecodedOperand& to, const ZydisDecodedOperand& from) {
    if (from.type == ZYDIS_OPERAND_TYPE_IMMEDIATE && to.size >= 32) {
      loaded_register_ = whole(to.reg.value);
      loaded_value_ = cut(from.imm.value.u, to.size);
    } else if (loads(to.reg.value)) {
      loaded_register_ = ZYDIS_REGISTER_NONE;
    }
  }

  bool loads(ZydisRegister name) const {
    return loaded_register_ != ZYDIS_REGISTER_NONE && whole(name) == loaded_register_;
  }

  // What a jump's operand names without a register, or with one that was loaded before it.
  std::optional<u64> address_of(const Instruction& instruction,
                                const ZydisDecodedOperand& operand) const {
    const auto& memory = operand.mem;
    if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY && memory.index == ZYDIS_REGISTER_NONE &&
        instruction.info.address_width >= 32 && loads(memory.base)) {
      return cut(loaded_value_ + static_cast<u64>(memory.disp.value),
                 instruction.info.address_width);
    }
    return disassembler_.address(instruction, operand);
  }

  EntryCode jump_to(u64 address, std::string_view how) const {
    const auto target = image_.rva_of_address(address);
    const bool inside = target && image_.is_executable(*target);
    return {inside ? Kind::wrapper : Kind::hook,
            address,
            target,
            {},
            fmt::format("{} to {:#x}", how, target ? u64{value(*target)} : address)};
  }

  EntryCode jump_through(u64 address) const {
    const auto slot = image_.rva_of_address(address);
    if (const auto import = slot ? find_import_(*slot) : std::nullopt)
      return {Kind::import_thunk, {}, {}, slot, fmt::format("jmp to the imported {}", *import)};
    auto text = fmt::format("jmp through the pointer at {:#x}", slot ? value(*slot) : address);
    if (slot) {
      const auto size = image_.optional_header().pointer_size();
      const auto tail = image_.bytes(*slot, size);
      const std::optional<u64> pointer =
          size == 8 ? core::load<u64>(tail, 0) : std::optional<u64>{core::load<u32>(tail, 0)};
      // A null pointer is set when the image runs, by its own code.
      if (pointer == 0) return {Kind::code, {}, {}, slot, text};
      if (pointer) {
        auto entry = jump_to(*pointer, text);
        entry.slot = slot;
        return entry;
      }
    }
    return {Kind::hook, {}, {}, slot, text};
  }

  const pe::Image& image_;
  pe::Rva at_;
  const FindImport& find_import_;
  Disassembler disassembler_;
  ZydisRegister loaded_register_ = ZYDIS_REGISTER_NONE;
  u64 loaded_value_ = 0;
  std::optional<u64> pushed_;
};

}  // namespace

EntryCode classify_entry(const pe::Image& image, pe::Rva rva, const FindImport& find_import) {
  if (!image.is_executable(rva)) return {Kind::data, {}, {}, {}, "data"};
  if (!Disassembler::supports(image.machine())) return {Kind::code, {}, {}, {}, "code"};
  return EntryReader{image, rva, find_import}.read();
}

}  // namespace coldtrace::syscall_map
