#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coldtrace/pdb/simple_types.hpp"
#include "coldtrace/pdb/type_table.hpp"

namespace coldtrace::pe {

// One step of a type from the outside to what it is made of: "array of 3", "pointer to", "const",
// and in the end a structure, a function or a simple type.
struct TypeLayer {
  enum class Kind : u8 { modifier, pointer, array, bit_field, function, named, simple, unknown };
  Kind kind;
  u32 index;                // of the type from here on
  std::optional<u64> size;  // in bytes; nothing for void, functions and what is only declared
  // Of the kinds that have it:
  Modifier modifier{};
  Pointer pointer{};
  std::optional<u64> count;  // of an array, where the size of its elements is known and not 0
  BitField bit_field{};
  Function function{};
  std::optional<TypeHead> named;       // of a definition, or a declaration without one
  const SimpleType* simple = nullptr;  // null: std::nullptr_t, or a code that is not known
};

// How a type is made, at most `most_layers` deep; the last is neither modifier, pointer nor array
// then. Of a function pointers and arguments are not layers.
inline constexpr std::size_t most_layers = 32;
[[nodiscard]] std::vector<TypeLayer> layers_of(const TypeTable& table, u32 index);

// In bytes; nothing for void, functions, and what is only declared or damaged.
[[nodiscard]] std::optional<u64> size_of(const TypeTable& table, u32 index);

// The type as WinDbg's "dt" shows it: "Ptr64 _LIST_ENTRY", "[3] Uint4B", "Pos 3, 1 Bit". Modifiers
// stand in front, functions are "Int4B (Ptr64 Void, Uint4B)". Longer ones than `longest_type_text`
// end with "...".
inline constexpr std::size_t longest_type_text = 1024;
[[nodiscard]] std::string to_text(const TypeTable& table, u32 index);

}  // namespace coldtrace::pe
