#pragma once

#include <string_view>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::pe {

// A type built into the language; type indexes below 0x1000 are such types, or pointers to them.
// Source: microsoft-pdb, cvinfo.h, CV_typ_t and TYPE_ENUM_e; the sizes are those of the names
// there.
struct SimpleType {
  enum class Kind : u8 { void_, integer, character, boolean, floating };
  u8 code;
  Kind kind;
  u8 size;  // in bytes
  bool is_signed;
  std::string_view debugger;    // its name in WinDbg's "dt": "Uint4B"
  std::string_view volatility;  // its name in symbol tables of Volatility 3: "unsigned long"
  std::string_view c;           // with this size on every Windows
};

inline constexpr u32 first_record_index = 0x1000;

// By the low byte of the index; null for unknown codes.
[[nodiscard]] const SimpleType* find_simple_type(u32 index);

// Whether the index is that of a pointer to the simple type, and its size in bytes.
[[nodiscard]] constexpr bool is_simple_pointer(u32 index) {
  return index < first_record_index && (index >> 8 & 7) != 0;
}
[[nodiscard]] u8 size_of_simple_pointer(u32 index, u8 pointer_size);

// The value of an integer of the type from its stored bits: compilers store -1 as one byte, as four
// without a sign, or as eight. Unchanged if the type is null.
[[nodiscard]] u64 to_integer(u64 stored, const SimpleType* type);

// std::nullptr_t, which compilers write as a near pointer to void.
inline constexpr u32 nullptr_index = 0x103;

}  // namespace coldtrace::pe
