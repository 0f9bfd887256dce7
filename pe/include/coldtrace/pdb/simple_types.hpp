#pragma once

#include <string_view>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::pe {

// A type that is part of the language; type indexes below 0x1000 are such types, or pointers to
// them. Source: microsoft-pdb, cvinfo.h, CV_typ_t and TYPE_ENUM_e; the sizes are those of the names
// there.
struct SimpleType {
  enum class Kind : u8 { void_, integer, character, boolean, floating };
  u8 code;
  Kind kind;
  u8 size;  // in bytes
  bool is_signed;
  std::string_view debugger;    // as WinDbg's "dt" calls it: "Uint4B"
  std::string_view volatility;  // as symbol tables of Volatility 3 do: "unsigned long"
  std::string_view c;           // with this size on all Windows
};

inline constexpr u32 first_record_index = 0x1000;

// The low byte of the index; null for codes without a type here.
[[nodiscard]] const SimpleType* find_simple_type(u32 index);

// Whether the index is of a pointer to the simple type, and of how many bytes.
[[nodiscard]] constexpr bool is_simple_pointer(u32 index) {
  return index < first_record_index && (index >> 8 & 7) != 0;
}
[[nodiscard]] u8 size_of_simple_pointer(u32 index, u8 pointer_size);

// What an integer of the type is of the stored bits: compilers store -1 as one byte, as four
// without a sign, or as eight. As it is stored where the type is null.
[[nodiscard]] u64 to_integer(u64 stored, const SimpleType* type);

// std::nullptr_t, which compilers write as a near pointer to void.
inline constexpr u32 nullptr_index = 0x103;

}  // namespace coldtrace::pe
