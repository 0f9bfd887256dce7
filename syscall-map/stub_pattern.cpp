#include "syscall-map/stub_pattern.hpp"

namespace coldtrace::syscall_map {
namespace {

constexpr u8 bare_return = 0xc3;
constexpr u8 counted_return = 0xc2;

// Collects bytes of one field, low first.
struct Field {
  u32 value = 0;
  u32 bits = 0;
  void add(u8 byte) {
    if (bits < 32) value |= u32{byte} << bits;
    bits += 8;
  }
};

}  // namespace

std::optional<StubPattern::Match> StubPattern::match(core::ByteView code) const {
  if (code.size() < size_) return std::nullopt;
  Match match;
  Field number, arguments, address, displacement;
  for (std::size_t i = 0; i < size_; ++i) {
    const auto byte = std::to_integer<u8>(code[i]);
    switch (elements_[i].kind) {
      case Kind::exact:
        if (byte != elements_[i].byte) return std::nullopt;
        break;
      case Kind::any:
        break;
      case Kind::number:
        number.add(byte);
        break;
      case Kind::arguments:
        arguments.add(byte);
        break;
      case Kind::bare_return:
        if (byte != bare_return) return std::nullopt;
        match.argument_bytes = 0;
        break;
      case Kind::address:
        if (address.bits == 0) match.address_at = static_cast<u32>(i);
        address.add(byte);
        break;
      case Kind::displacement:
        displacement.add(byte);
        match.displacement_target = static_cast<i64>(i) + 1 + static_cast<i32>(displacement.value);
        break;
    }
  }
  match.immediate = number.value;
  match.address = address.value;
  if (arguments.bits != 0) match.argument_bytes = arguments.value;
  match.length = static_cast<u32>(size_);
  if (!returns_) return match;

  const auto opcode = core::load<u8>(code, size_);
  if (opcode == bare_return) {
    match.argument_bytes = 0;
    match.length += 1;
    return match;
  }
  const auto removed = core::load<u16>(code, size_ + 1);
  if (opcode != counted_return || !removed) return std::nullopt;
  match.argument_bytes = *removed;
  match.length += 3;
  return match;
}

}  // namespace coldtrace::syscall_map
