#include "registry/recovery/marvin32.hpp"

#include <bit>

namespace coldtrace::registry {
namespace {

struct State {
  u32 low = 0x7a4e55c5;
  u32 high = 0x82ef4d88;

  void mix(u32 word) {
    low += word;
    high ^= low;
    low = std::rotl(low, 20) + high;
    high = std::rotl(high, 9) ^ low;
    low = std::rotl(low, 27) + high;
    high = std::rotl(high, 19);
  }
};

}  // namespace

u64 marvin32(core::ByteView bytes) {
  State state;
  u64 at = 0;
  for (; bytes.size() - at >= 4; at += 4) state.mix(core::load<u32>(bytes, at).value_or(0));
  u32 rest = 0x80;  // behind the bytes that are left
  for (u64 i = bytes.size(); i-- > at;) rest = rest << 8 | u32(bytes[i]);
  state.mix(rest);
  state.mix(0);
  return u64{state.high} << 32 | state.low;
}

}  // namespace coldtrace::registry
