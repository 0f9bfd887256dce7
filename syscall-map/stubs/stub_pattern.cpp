#include "syscall-map/stubs/stub_pattern.hpp"

#include <algorithm>
#include <cstring>

namespace coldtrace::syscall_map {

std::optional<StubPattern::Match> StubPattern::match(core::ByteView code) const {
  if (code.size() < size_) return std::nullopt;
  Bytes bytes{};
  std::memcpy(bytes.data(), code.data(), std::min(code.size(), bytes.size()));
  u8 differences = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    differences = static_cast<u8>(differences | ((bytes[i] ^ exact_[i]) & mask_[i]));
  if (differences != 0) return std::nullopt;

  Match match;
  match.immediate = load(bytes, number_);
  match.address = load(bytes, address_);
  match.address_at = address_.at;
  if (displacement_.size != 0)
    match.displacement_target =
        i64{displacement_.at} + displacement_.size + static_cast<i32>(load(bytes, displacement_));
  if (bare_return_) match.argument_bytes = 0;
  if (arguments_.size != 0) match.argument_bytes = load(bytes, arguments_);
  match.length = size_;
  if (!returns_) return match;

  const auto opcode = core::load<u8>(code, size_);
  if (opcode == bare_return) {
    match.argument_bytes = 0;
    match.length += 1;
    return match;
  }
  const auto removed = core::load<u16>(code, size_ + u64{1});
  if (opcode != counted_return || !removed) return std::nullopt;
  match.argument_bytes = *removed;
  match.length += 3;
  return match;
}

}  // namespace coldtrace::syscall_map
