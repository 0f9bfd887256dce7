#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coldtrace/pdb/simple_types.hpp"
#include "coldtrace/pdb/type_table.hpp"

namespace coldtrace::pe {

// One step of a type from the outside inwards: "array of 3", "pointer to", "const", and finally a
// structure, a function or a simple type.
struct TypeLayer {
  enum class Kind : u8 { modifier, pointer, array, bit_field, function, named, simple, unknown };
  Kind kind;
  u32 index;                // of the type from here on
  std::optional<u64> size;  // in bytes; nothing for void, functions and mere declarations
  // Only for the kinds that have them:
  Modifier modifier{};
  Pointer pointer{};
  std::optional<u64> count;  // of an array, if the size of its elements is known and not 0
  BitField bit_field{};
  Function function{};
  std::optional<TypeHead> named;       // of a definition, or a declaration without one
  const SimpleType* simple = nullptr;  // null: std::nullptr_t, or an unknown code
};

// The layers of a type, at most `most_layers`; the last is then neither modifier, pointer nor
// array. Pointers and arguments of a function are not layers.
inline constexpr std::size_t most_layers = 32;
[[nodiscard]] std::vector<TypeLayer> layers_of(const TypeTable& table, u32 index);

// In bytes; nothing for void, functions, and types that are only declared or damaged.
[[nodiscard]] std::optional<u64> size_of(const TypeTable& table, u32 index);

// The type as WinDbg's "dt" shows it: "Ptr64 _LIST_ENTRY", "[3] Uint4B", "Pos 3, 1 Bit". Modifiers
// are in front, functions are "Int4B (Ptr64 Void, Uint4B)". Texts longer than `longest_type_text`
// end with "...".
inline constexpr std::size_t longest_type_text = 1024;
[[nodiscard]] std::string to_text(const TypeTable& table, u32 index);

}  // namespace coldtrace::pe
