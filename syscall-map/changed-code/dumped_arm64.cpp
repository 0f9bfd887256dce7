#include <array>

#include "syscall-map/changed-code/dumped_code.hpp"
#include "syscall-map/code/signed_field.hpp"

namespace coldtrace::syscall_map {
namespace {

constexpr u32 no_operation = 0xd503201f;

u64 displaced(u64 address, i64 distance) {
  return address + static_cast<u64>(distance);
}

// Constants in registers.
class Arm64Registers {
 public:
  // Whether the instruction at `address` only puts one there. Source: Arm Architecture Reference
  // Manual for A-profile, C6.2: LDR (literal), ADRP, ADD (immediate), MOVZ, MOVK.
  bool take(const pe::ModuleDump& dump, u64 address, u32 word) {
    auto& target = values_[word & 31];
    const auto source = values_[(word >> 5) & 31];
    if ((word & 0xff000000) == 0x58000000) {
      const auto rva = dump.rva_of_address(displaced(address, signed_field(word, 5, 19) * 4));
      target = rva ? dump.pointer(*rva) : std::nullopt;
    } else if ((word & 0x9f000000) == 0x90000000) {
      const i64 pages = signed_field(word, 5, 19) * 4 + ((word >> 29) & 3);
      target = displaced(address & ~u64{0xfff}, pages * 0x1000);
    } else if ((word & 0xff800000) == 0x91000000) {
      const u64 shift = (word & (1U << 22)) != 0 ? 12 : 0;
      if (source) target = *source + (u64{(word >> 10) & 0xfff} << shift);
    } else if ((word & 0xff800000) == 0xd2800000) {
      target = u64{(word >> 5) & 0xffff} << shift_of(word);
    } else if ((word & 0xff800000) == 0xf2800000) {
      if (target)
        target = (*target & ~(u64{0xffff} << shift_of(word))) |
                 (u64{(word >> 5) & 0xffff} << shift_of(word));
    } else {
      return false;
    }
    return true;
  }
  std::optional<u64> at(u32 number) const { return values_[number & 31]; }

 private:
  static u64 shift_of(u32 word) { return u64{(word >> 21) & 3} * 16; }

  std::array<std::optional<u64>, 32> values_;
};

}  // namespace

CodeStep look_at_arm64(const pe::ModuleDump& dump, pe::Rva start, pe::Rva end) {
  constexpr unsigned most_instructions = 8;
  Arm64Registers registers;
  bool only_nops = true;
  auto rva = start;
  for (unsigned i = 0; i < most_instructions && rva < end; ++i, rva = rva + 4) {
    const auto loaded = core::load<u32>(dump.present(rva, 4), 0);
    if (!loaded) return {};
    const u32 word = *loaded;
    const u64 address = dump.base() + value(rva);
    if ((word & 0x7c000000) == 0x14000000)
      return {(word >> 31) != 0 ? ChangeKind::call : ChangeKind::jump,
              displaced(address, signed_field(word, 0, 26) * 4)};
    if ((word & 0xffe0001f) == 0xd4200000) return {ChangeKind::breakpoint, std::nullopt};
    if ((word & 0xfffffc1f) == 0xd61f0000) return {ChangeKind::jump, registers.at(word >> 5)};
    if ((word & 0xfffffc1f) == 0xd63f0000) return {ChangeKind::call, registers.at(word >> 5)};
    if ((word & 0xfffffc1f) == 0xd65f0000) return {ChangeKind::returns, std::nullopt};
    if (word == no_operation) continue;
    only_nops = false;
    if (!registers.take(dump, address, word)) return {};
  }
  return {only_nops && rva > start ? ChangeKind::nop : ChangeKind::code, std::nullopt};
}

}  // namespace coldtrace::syscall_map
