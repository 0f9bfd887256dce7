#pragma once

#include "coldtrace/core/integers.hpp"

namespace coldtrace::tracefile::synthesis {

// SplitMix64: the same everywhere, which the standard library's distributions are not.
class Random {
 public:
  explicit Random(u64 seed) : state_{seed} {}

  u64 below(u64 bound) {
    state_ += 0x9e37'79b9'7f4a'7c15;
    u64 value = state_;
    value = (value ^ value >> 30) * 0xbf58'476d'1ce4'e5b9;
    value = (value ^ value >> 27) * 0x94d0'49bb'1331'11eb;
    return (value ^ value >> 31) % bound;
  }

 private:
  u64 state_;
};

}  // namespace coldtrace::tracefile::synthesis
