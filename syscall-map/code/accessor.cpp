#include "syscall-map/code/accessor.hpp"

#include <array>
#include <map>
#include <utility>

namespace coldtrace::syscall_map {
namespace {

constexpr u32 most_instructions = 32;
constexpr u32 most_calls = 3;  // within each other
constexpr std::size_t longest_way = 4;

// Up to Windows 2000 the KPCR of x86 is at this address, and code may name it so.
constexpr u64 fixed_control_region = 0xffdff000;
constexpr u64 control_region_size = 0x1000;

// A register or a place of the stack.
struct Value {
  enum class Kind : u8 { unknown, number, argument, control_region, stack };

  Kind kind = Kind::unknown;
  std::vector<u32> way;  // offsets that were read at
  i64 added = 0;  // to what the last read gave; for the stack, bytes above the return address
};

// Registers by their number, rax to r15.
using Registers = std::array<Value, 16>;

std::optional<std::size_t> number_of(ZydisRegister name) {
  const auto full = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, name);
  if (full < ZYDIS_REGISTER_RAX || full > ZYDIS_REGISTER_R15) return std::nullopt;
  return static_cast<std::size_t>(full - ZYDIS_REGISTER_RAX);
}

constexpr std::size_t accumulator = 0;
constexpr std::size_t first_argument = 1;  // rcx, of x64
constexpr std::size_t stack_pointer = 4;

class Machine {
 public:
  Machine(const pe::Image& image, const Disassembler& disassembler)
      : image_{image},
        disassembler_{disassembler},
        wide_{image.machine() == pe::Machine::amd64},
        pointer_{wide_ ? 8U : 4U} {
    registers_[stack_pointer].kind = Value::Kind::stack;
    if (wide_)
      registers_[first_argument].kind = Value::Kind::argument;
    else
      stack_[pointer_].kind = Value::Kind::argument;
  }

  std::optional<AccessorValue> run(pe::Rva rva) {
    if (!execute(rva, 0)) return std::nullopt;
    const auto& result = registers_[accumulator];
    AccessorValue found;
    if (result.kind == Value::Kind::argument)
      found.start = AccessorValue::Start::argument;
    else if (result.kind == Value::Kind::control_region)
      found.start = AccessorValue::Start::control_region;
    else
      return std::nullopt;
    found.way = result.way;
    if (result.added != 0) {
      if (result.added < 0 || result.added > ~u32{0}) return std::nullopt;
      found.way.push_back(static_cast<u32>(result.added));
      found.address = true;
    }
    found.instructions = executed_;
    found.through_call = through_call_;
    return found;
  }

 private:
  // Up to the function's return. The stack pointer is at the return address before and after.
  bool execute(pe::Rva rva, u32 depth) {
    while (executed_ < most_instructions) {
      if (!image_.is_executable(rva)) return false;
      const auto instruction = disassembler_.decode(rva);
      if (!instruction) return false;
      ++executed_;
      rva = instruction->end();
      switch (instruction->info.mnemonic) {
        case ZYDIS_MNEMONIC_RET:
          popped_ = instruction->operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE
                        ? static_cast<u32>(instruction->operands[0].imm.value.u)
                        : 0;
          return true;
        case ZYDIS_MNEMONIC_JMP: {
          const auto target = disassembler_.branch_target(*instruction);
          if (!target) return false;
          through_call_ = true;
          rva = *target;
          break;
        }
        case ZYDIS_MNEMONIC_CALL:
          if (!call(*instruction, depth)) return false;
          break;
        default:
          if (!step(*instruction)) return false;
      }
    }
    return false;
  }

  bool call(const Instruction& instruction, u32 depth) {
    const auto target = disassembler_.branch_target(instruction);
    if (!target || depth == most_calls) return false;
    through_call_ = true;
    push({});
    const auto saved = registers_;
    if (!execute(*target, depth + 1)) return false;
    auto result = registers_[accumulator];
    registers_ = saved;  // what the caller may rely on; its own stack pointer among it
    registers_[accumulator] = std::move(result);
    for (const std::size_t lost : {std::size_t{1}, std::size_t{2}}) registers_[lost] = {};
    registers_[stack_pointer].added += pointer_ + popped_;
    popped_ = 0;
    return true;
  }

  bool step(const Instruction& instruction) {
    const auto& operands = instruction.operands;
    switch (instruction.info.mnemonic) {
      case ZYDIS_MNEMONIC_NOP:
        return true;
      case ZYDIS_MNEMONIC_MOV:
      case ZYDIS_MNEMONIC_MOVZX:
      case ZYDIS_MNEMONIC_MOVSX:
      case ZYDIS_MNEMONIC_MOVSXD:
        return set(instruction, operands[0], get(instruction, operands[1]));
      case ZYDIS_MNEMONIC_LEA:
        return set(instruction, operands[0], address(instruction, operands[1]));
      case ZYDIS_MNEMONIC_ADD:
      case ZYDIS_MNEMONIC_SUB: {
        auto left = get(instruction, operands[0]);
        auto right = get(instruction, operands[1]);
        const bool add = instruction.info.mnemonic == ZYDIS_MNEMONIC_ADD;
        if (add && left.kind == Value::Kind::number) std::swap(left, right);
        if (right.kind != Value::Kind::number) return false;
        if (!move(left, add ? right.added : -right.added)) return false;
        return set(instruction, operands[0], std::move(left));
      }
      case ZYDIS_MNEMONIC_XOR:
        // To clear a register: what it holds then is no way to a field.
        return operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
               operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
               operands[0].reg.value == operands[1].reg.value && set(instruction, operands[0], {});
      case ZYDIS_MNEMONIC_PUSH:
        push(get(instruction, operands[0]));
        return true;
      case ZYDIS_MNEMONIC_POP: {
        auto& top = registers_[stack_pointer];
        const auto value = stack_[top.added];
        top.added += pointer_;
        return set(instruction, operands[0], value);
      }
      case ZYDIS_MNEMONIC_LEAVE: {
        constexpr std::size_t frame_pointer = 5;
        if (registers_[frame_pointer].kind != Value::Kind::stack) return false;
        registers_[stack_pointer] = registers_[frame_pointer];
        registers_[frame_pointer] = stack_[registers_[stack_pointer].added];
        registers_[stack_pointer].added += pointer_;
        return true;
      }
      default:
        return false;
    }
  }

  void push(Value value) {
    auto& top = registers_[stack_pointer];
    top.added -= pointer_;
    stack_[top.added] = std::move(value);
  }

  // Bounded, so that sums cannot overflow.
  static bool move(Value& value, i64 distance) {
    constexpr i64 farthest = i64{1} << 32;
    if (distance > farthest || distance < -farthest) return false;
    value.added += distance;
    return value.added <= farthest && value.added >= -farthest;
  }

  // What a memory operand names, before anything is read there.
  Value address(const Instruction& instruction, const ZydisDecodedOperand& operand) const {
    if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY || operand.mem.index != ZYDIS_REGISTER_NONE)
      return {};
    const auto segment = wide_ ? ZYDIS_REGISTER_GS : ZYDIS_REGISTER_FS;
    Value place;
    if (operand.mem.base == ZYDIS_REGISTER_NONE) {
      if (operand.mem.segment == segment) {
        place.kind = Value::Kind::control_region;
        return move(place, operand.mem.disp.value) ? place : Value{};
      }
      const auto absolute = disassembler_.address(instruction, operand);
      if (wide_ || !absolute || *absolute < fixed_control_region ||
          *absolute - fixed_control_region >= control_region_size)
        return {};
      place.kind = Value::Kind::control_region;
      place.added = static_cast<i64>(*absolute - fixed_control_region);
      return place;
    }
    if (operand.mem.segment == segment) return {};
    const auto base = number_of(operand.mem.base);
    if (!base) return {};
    place = registers_[*base];
    return move(place, operand.mem.disp.value) ? place : Value{};
  }

  Value get(const Instruction& instruction, const ZydisDecodedOperand& operand) {
    if (operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
      Value number{Value::Kind::number, {}, 0};
      return move(number, operand.imm.value.s) ? number : Value{};
    }
    if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER) {
      const auto number = number_of(operand.reg.value);
      return number ? registers_[*number] : Value{};
    }
    if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY) return {};
    auto place = address(instruction, operand);
    if (place.kind == Value::Kind::stack) return stack_[place.added];
    if (place.kind == Value::Kind::unknown || place.kind == Value::Kind::number ||
        place.added < 0 || place.added > ~u32{0} || place.way.size() == longest_way)
      return {};
    place.way.push_back(static_cast<u32>(place.added));
    place.added = 0;
    return place;
  }

  bool set(const Instruction& instruction, const ZydisDecodedOperand& operand, Value value) {
    if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER) {
      const auto number = number_of(operand.reg.value);
      if (!number) return false;
      if (*number == stack_pointer && value.kind != Value::Kind::stack) return false;
      registers_[*number] = std::move(value);
      return true;
    }
    if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY) return false;
    const auto place = address(instruction, operand);
    if (place.kind != Value::Kind::stack) return false;  // an accessor changes nothing
    stack_[place.added] = std::move(value);
    return true;
  }

  const pe::Image& image_;
  const Disassembler& disassembler_;
  bool wide_;
  u32 pointer_;
  Registers registers_;
  std::map<i64, Value> stack_;  // by distance from the outermost return address
  u32 executed_ = 0;
  u32 popped_ = 0;  // bytes of arguments, by the last return
  bool through_call_ = false;
};

}  // namespace

std::optional<AccessorValue> read_accessor(const pe::Image& image, const Disassembler& disassembler,
                                           pe::Rva rva) {
  return Machine{image, disassembler}.run(rva);
}

}  // namespace coldtrace::syscall_map
