#pragma once

#include "coldtrace/core/reader.hpp"
#include "coldtrace/tracefile/fields/field_schema.hpp"

namespace coldtrace::tracefile {

// One value of a payload, not yet turned into text: `number` for integers, booleans, times and
// pointers (sign-extended), `bytes` for everything else: text without terminator, characters,
// binaries, GUIDs, SIDs, addresses.
struct Value {
  InType in;
  OutType out;
  u8 size;  // bytes of the number
  u64 number;
  core::ByteView bytes;
  core::ByteView whole{};  // of a text with more than zeros after its first NUL: all of it
};

}  // namespace coldtrace::tracefile
