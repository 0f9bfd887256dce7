#include "syscall-map/code/signed_field.hpp"
#include "syscall-map/member-derivation/operation_reader.hpp"

namespace coldtrace::syscall_map {
namespace {

constexpr u32 zero_register = 31;  // as a source or target of data; as a base it is the stack's

void write(Operation& operation, u32 number) {
  if (number != zero_register) operation.written |= u64{1} << number;
}

pe::Rva displaced(pe::Rva rva, i64 distance) {
  return pe::Rva{static_cast<u32>(value(rva) + static_cast<u64>(distance))};
}

// Loads and stores. Source: Arm Architecture Reference Manual for A-profile, C4.1, "Loads and
// stores".
bool read_memory_access(Operation& operation, u32 word) {
  const u32 base = (word >> 5) & 31, data = word & 31, size = word >> 30;
  const bool vector = (word & (1U << 26)) != 0;
  u32 opc = (word >> 22) & 3;
  bool writes_base = false;
  if ((word & 0x3b000000) == 0x39000000) {  // unsigned offset
    const u32 scale = vector && (opc & 2) != 0 ? 4 : size;
    operation.displacement = i64{(word >> 10) & 0xfff} << scale;
    operation.shape = word & ~(u32{0xfff} << 10);
  } else if ((word & 0x3b200000) == 0x38000000) {  // unscaled, or indexed before or after
    const u32 form = (word >> 10) & 3;
    operation.displacement = form == 1 ? 0 : signed_field(word, 12, 9);
    writes_base = (form & 1) != 0;
    // The same access has this form where its offset is negative or odd.
    operation.shape = writes_base ? word & ~(u32{0x1ff} << 12) : (word & 0xc4c003ff) | 0x39000000;
  } else if ((word & 0x3a000000) == 0x28000000) {  // pairs
    const u32 scale = vector ? 2 + size : (size & 2) != 0 ? 3 : 2;
    const u32 form = (word >> 23) & 3;
    operation.displacement = form == 1 ? 0 : signed_field(word, 15, 7) * (i64{1} << scale);
    writes_base = (form & 1) != 0;
    operation.shape = word & ~(u32{0x7f} << 15);
    opc = (word >> 22) & 1;
    if (!vector) operation.second = static_cast<u8>(1U << scale);
    if (!vector && opc != 0) write(operation, (word >> 10) & 31);
  } else {
    return false;
  }
  operation.from = static_cast<u8>(base);
  operation.uses_memory = !writes_base;
  if (writes_base) operation.written |= u64{1} << base;
  if (vector) return true;
  if (opc != 0) write(operation, data);
  const bool pair = (word & 0x3a000000) == 0x28000000;
  const bool pointer = pair ? size == 2 : size == 3;
  if (!pointer || writes_base) return true;
  if (opc == 1 && data != zero_register) {
    operation.effect = Operation::Effect::load;
    operation.to = static_cast<u8>(data);
  } else if (opc == 0 && !pair) {
    operation.effect = Operation::Effect::store;
    if (data != zero_register) operation.stored = static_cast<u8>(data);
  }
  return true;
}

bool read_branch(Operation& operation, u32 word) {
  using Flow = Operation::Flow;
  i64 distance = 0;
  if ((word & 0x7c000000) == 0x14000000) {  // B, BL
    operation.flow = (word >> 31) != 0 ? Flow::call : Flow::jump;
    distance = signed_field(word, 0, 26) * 4;
    operation.shape = word & 0xfc000000;
  } else if ((word & 0xff000010) == 0x54000000 ||  // B.cond
             (word & 0x7e000000) == 0x34000000) {  // CBZ, CBNZ
    operation.flow = Flow::conditional;
    distance = signed_field(word, 5, 19) * 4;
    operation.shape = word & 0xff00001f;
  } else if ((word & 0x7e000000) == 0x36000000) {  // TBZ, TBNZ
    operation.flow = Flow::conditional;
    distance = signed_field(word, 5, 14) * 4;
    operation.shape = word & 0xfff8001f;
  } else {
    if ((word & 0xfe000000) != 0xd6000000 && (word & 0xffe0001f) != 0xd4200000) return false;
    operation.shape = word;
    if ((word & 0xffe0001f) == 0xd4200000)
      operation.flow = Flow::end;  // BRK
    else
      operation.flow = ((word >> 21) & 3) == 1   ? Flow::call
                       : ((word >> 21) & 3) == 0 ? Flow::jump
                                                 : Flow::end;
    return true;
  }
  operation.target = displaced(operation.rva, distance);
  return true;
}

}  // namespace

Operation read_arm64_operation(pe::Rva rva, u32 word) {
  Operation operation;
  operation.rva = rva;
  operation.length = 4;
  const u32 to = word & 31, from = (word >> 5) & 31;
  if (read_branch(operation, word) || read_memory_access(operation, word)) return operation;
  operation.shape = word;
  if ((word & 0x1f000000) == 0x10000000) {  // ADR, ADRP
    operation.shape = word & 0x9f00001f;
    write(operation, to);
  } else if ((word & 0xff800000) == 0x91000000 || (word & 0xff800000) == 0xd1000000) {
    // ADD and SUB of a number; 31 is the stack pointer here.
    const i64 number = i64{(word >> 10) & 0xfff} << ((word & (1U << 22)) != 0 ? 12 : 0);
    operation.effect = Operation::Effect::address;
    operation.to = static_cast<u8>(to);
    operation.from = static_cast<u8>(from);
    operation.displacement = (word >> 30 & 1) != 0 ? -number : number;
    operation.uses_memory = (word >> 30 & 1) == 0;
    operation.shape = word & ~(u32{0x1fff} << 10);
    operation.written |= u64{1} << to;
  } else if ((word & 0xffe0ffe0) == 0xaa0003e0) {  // MOV, which is ORR with the zero register
    if (to != zero_register && (word >> 16 & 31) != zero_register) {
      operation.effect = Operation::Effect::copy;
      operation.to = static_cast<u8>(to);
      operation.from = static_cast<u8>(word >> 16 & 31);
    }
    write(operation, to);
  } else {
    // Also where it is none: what is lost proves nothing. Exclusive and atomic accesses write
    // others.
    write(operation, to);
    if ((word & 0x0a000000) == 0x08000000) {
      write(operation, from);
      write(operation, (word >> 10) & 31);
      write(operation, (word >> 16) & 31);
    }
  }
  return operation;
}

}  // namespace coldtrace::syscall_map
