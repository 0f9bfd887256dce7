#include "syscall-map/member-derivation/operation_reader.hpp"

#include <fmt/format.h>

namespace coldtrace::syscall_map {
namespace {

constexpr u8 x86_stack_pointer = 4;
constexpr u8 arm64_stack_pointer = 31;
constexpr u8 x64_arguments[] = {1, 2, 8, 9};  // rcx, rdx, r8, r9
constexpr u8 x86_arguments[] = {1, 2};        // ecx and edx, of fastcall
constexpr u8 arm64_arguments[] = {0, 1, 2, 3, 4, 5, 6, 7};

std::optional<u8> number_of(ZydisRegister name) {
  const auto full = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, name);
  if (full < ZYDIS_REGISTER_RAX || full > ZYDIS_REGISTER_R15) return std::nullopt;
  return static_cast<u8>(full - ZYDIS_REGISTER_RAX);
}

u64 written_by(const Instruction& instruction) {
  u64 written = 0;
  for (u32 i = 0; i < instruction.info.operand_count; ++i) {
    const auto& operand = instruction.operands[i];
    if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER ||
        (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) == 0)
      continue;
    if (const auto number = number_of(operand.reg.value)) written |= u64{1} << *number;
  }
  return written;
}

Operation::Flow flow_of(const Instruction& instruction) {
  switch (instruction.info.meta.category) {
    case ZYDIS_CATEGORY_CALL:
      return Operation::Flow::call;
    case ZYDIS_CATEGORY_COND_BR:
      return Operation::Flow::conditional;
    case ZYDIS_CATEGORY_UNCOND_BR:
      return Operation::Flow::jump;
    case ZYDIS_CATEGORY_RET:
    case ZYDIS_CATEGORY_SYSRET:
      return Operation::Flow::end;
    default:
      return instruction.info.mnemonic == ZYDIS_MNEMONIC_INT3 ||
                     instruction.info.mnemonic == ZYDIS_MNEMONIC_UD2
                 ? Operation::Flow::end
                 : Operation::Flow::next;
  }
}

}  // namespace

OperationReader::OperationReader(const pe::Image& image)
    : image_{image},
      disassembler_{image},
      machine_{image.machine()},
      pointer_size_{static_cast<u8>(machine_ == pe::Machine::i386 ? 4 : 8)} {}

bool OperationReader::supports(pe::Machine machine) {
  return Disassembler::supports(machine) || machine == pe::Machine::arm64;
}

u8 OperationReader::stack_pointer() const {
  return machine_ == pe::Machine::arm64 ? arm64_stack_pointer : x86_stack_pointer;
}

std::span<const u8> OperationReader::arguments() const {
  if (machine_ == pe::Machine::arm64) return arm64_arguments;
  if (machine_ == pe::Machine::amd64) return x64_arguments;
  return x86_arguments;
}

u64 OperationReader::volatile_registers() const {
  if (machine_ == pe::Machine::arm64) return 0x4003ffff;  // x0 to x17, x30
  if (machine_ == pe::Machine::amd64) return 0x0f07;      // rax, rcx, rdx, r8 to r11
  return 0x7;
}

std::optional<Operation> OperationReader::read(pe::Rva rva) const {
  if (!image_.is_executable(rva)) return std::nullopt;
  if (machine_ == pe::Machine::arm64) {
    const auto word = core::load<u32>(image_.bytes(rva, 4), 0);
    if (!word || (value(rva) & 3) != 0) return std::nullopt;
    return read_arm64_operation(rva, *word);
  }
  const auto instruction = disassembler_.decode(rva);
  if (!instruction) return std::nullopt;
  return read_x86(*instruction);
}

std::string OperationReader::text(const Operation& operation) const {
  if (machine_ == pe::Machine::arm64)
    return fmt::format("{:08x}", core::load<u32>(image_.bytes(operation.rva, 4), 0).value_or(0));
  const auto instruction = disassembler_.decode(operation.rva);
  return instruction ? disassembler_.text(*instruction) : std::string{};
}

// What two instructions have in common that differ in distances, addresses and displacements alone.
u64 OperationReader::shape_of(const Instruction& instruction) const {
  const auto& info = instruction.info;
  const auto& operands = instruction.operands;
  u64 shape = mixed(info.mnemonic, info.operand_count_visible);
  for (u32 i = 0; i < info.operand_count_visible; ++i) {
    const auto& operand = operands[i];
    shape = mixed(shape, u64{static_cast<u32>(operand.type)} << 32 | operand.size);
    if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER) {
      shape = mixed(shape, operand.reg.value);
    } else if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY) {
      shape = mixed(shape, u64{static_cast<u32>(operand.mem.segment)} << 48 ^
                               u64{static_cast<u32>(operand.mem.base)} << 32 ^
                               u64{static_cast<u32>(operand.mem.index)} << 16 ^ operand.mem.scale);
    } else if (operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE && !operand.imm.is_relative) {
      const bool frame = i > 0 && operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
                         number_of(operands[0].reg.value) == x86_stack_pointer;
      const auto number =
          pointer_size_ == 8 ? operand.imm.value.u : operand.imm.value.u & 0xffff'ffff;
      if (!frame && !image_.rva_of_address(number)) shape = mixed(shape, number);
    }
  }
  return shape;
}

void OperationReader::read_place(const Instruction& instruction, const ZydisDecodedOperand& operand,
                                 Operation& operation) const {
  const auto& mem = operand.mem;
  const auto segment = pointer_size_ == 8 ? ZYDIS_REGISTER_GS : ZYDIS_REGISTER_FS;
  if (mem.index != ZYDIS_REGISTER_NONE) return;
  if (mem.segment == segment) {
    if (mem.base != ZYDIS_REGISTER_NONE) return;
    operation.from = Operation::control_region;
  } else if (const auto base = number_of(mem.base)) {
    operation.from = *base;
  } else if (const auto address = disassembler_.address(instruction, operand)) {
    operation.place = image_.rva_of_address(*address);
  }
  operation.uses_memory = operation.from != Operation::no_register;
  operation.displacement = mem.disp.value;
}

// The register of a pointer's size that operand `index` is.
std::optional<u8> OperationReader::pointer_register(const Instruction& instruction,
                                                    u32 index) const {
  const auto& operand = instruction.operands[index];
  if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER || operand.size != pointer_size_ * 8U)
    return std::nullopt;
  return number_of(operand.reg.value);
}

void OperationReader::read_effect(const Instruction& instruction, const ZydisDecodedOperand* memory,
                                  Operation& operation) const {
  using Effect = Operation::Effect;
  const auto& operands = instruction.operands;
  const auto to = pointer_register(instruction, 0);
  const bool pointer_sized = memory && memory->size == pointer_size_ * 8U;
  switch (instruction.info.mnemonic) {
    case ZYDIS_MNEMONIC_MOV: {
      const auto from = pointer_register(instruction, 1);
      if (to && from) {
        operation.effect = Effect::copy;
        operation.to = *to;
        operation.from = *from;
      } else if (to && pointer_sized && (operation.uses_memory || operation.place)) {
        operation.effect = Effect::load;
        operation.to = *to;
      } else if (memory == &operands[0] && operation.uses_memory) {
        operation.effect = Effect::store;
        if (pointer_sized && from) operation.stored = *from;
      }
      break;
    }
    case ZYDIS_MNEMONIC_LEA:
      if (!to || !operation.uses_memory) break;
      operation.effect = Effect::address;
      operation.to = *to;
      break;
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB: {
      if (!to || operands[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE) break;
      operation.effect = Effect::address;
      operation.to = operation.from = *to;
      const auto number = operands[1].imm.value.s;
      operation.displacement = instruction.info.mnemonic == ZYDIS_MNEMONIC_ADD ? number : -number;
      break;
    }
    case ZYDIS_MNEMONIC_PUSH:
      operation.effect = Effect::push;
      if (to) operation.stored = *to;
      break;
    case ZYDIS_MNEMONIC_POP:
      operation.effect = Effect::pop;
      if (to) operation.to = *to;
      break;
    case ZYDIS_MNEMONIC_LEAVE:
      operation.effect = Effect::leave;
      break;
    default:
      break;
  }
}

Operation OperationReader::read_x86(const Instruction& instruction) const {
  const auto& info = instruction.info;
  const auto& operands = instruction.operands;
  Operation operation;
  operation.rva = instruction.rva;
  operation.length = info.length;
  operation.flow = flow_of(instruction);
  operation.target = disassembler_.branch_target(instruction);
  operation.written = written_by(instruction);
  operation.shape = shape_of(instruction);
  if (info.mnemonic == ZYDIS_MNEMONIC_RET && info.operand_count_visible > 0 &&
      operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
    operation.popped = static_cast<u32>(operands[0].imm.value.u & 0xffff);
  if (operation.flow != Operation::Flow::next) return operation;
  const ZydisDecodedOperand* memory = nullptr;
  for (u32 i = 0; i < info.operand_count_visible; ++i)
    if (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY) memory = &operands[i];
  if (memory) read_place(instruction, *memory, operation);
  read_effect(instruction, memory, operation);
  return operation;
}

}  // namespace coldtrace::syscall_map
