#pragma once

#include <optional>
#include <string_view>

#include "coldtrace/core/reader.hpp"

namespace coldtrace::pe {

// Records of types in CodeView form, as in PDBs, each from its kind on. Sources: microsoft-pdb,
// cvinfo.h; LLVM, "CodeView Type Records"; for the records with 32-bit properties, which Visual
// Studio has written since 2019 16.8, five readers of them and real files that were rewritten to
// them.

// The keyword with which a type was declared.
enum class AggregateKind : u8 { structure, class_, interface_, union_ };

// Whether a declaration of one may belong to a definition of the other: classes are structures.
[[nodiscard]] bool are_of_one_kind(AggregateKind a, AggregateKind b);

// Bits of Aggregate::properties and Enumeration::properties. Only some compilers set
// `property_packed` for a packed structure.
inline constexpr u32 property_packed = 0x1;
inline constexpr u32 property_nested = 0x8;
inline constexpr u32 property_forward = 0x80;  // declared here, defined by another record
inline constexpr u32 property_scoped = 0x100;  // local in a function
inline constexpr u32 property_unique = 0x200;  // a unique name follows

// LF_CLASS, LF_STRUCTURE, LF_INTERFACE and LF_UNION, in their forms with names that have a length
// byte (_ST), with NUL-terminated names, and with 32-bit properties (_2).
struct Aggregate {
  AggregateKind kind;
  u32 properties;
  u32 fields;  // index of its LF_FIELDLIST
  u64 members;
  u64 size;
  std::string_view name;
  std::string_view unique_name;  // mangled; empty if the compiler gave none

  [[nodiscard]] bool forward() const { return (properties & property_forward) != 0; }
};

// LF_ENUM.
struct Enumeration {
  u32 properties;
  u32 underlying;  // the integer
  u32 fields;
  u64 members;
  std::string_view name;
  std::string_view unique_name;

  [[nodiscard]] bool forward() const { return (properties & property_forward) != 0; }
};

// LF_MODIFIER.
struct Modifier {
  u32 type;
  bool is_const, is_volatile, is_unaligned;
};

// LF_POINTER.
struct Pointer {
  enum class Mode : u8 { pointer, reference, data_member, method, rvalue_reference, unknown };
  u32 to;
  Mode mode;
  u8 size;  // by its kind if the record has none, as in Windows XP; 0 if neither gives it
  bool is_const, is_volatile, is_unaligned, is_restrict;
};

// LF_ARRAY. The number of elements follows from the size of one.
struct Array {
  u32 element;
  u64 size;
};

// LF_BITFIELD: bits of the integer at the offset of the member, from the lowest on.
struct BitField {
  u32 type;
  u8 length, position;
};

// The convention of a function about which nothing is known, neither its return type nor its
// arguments: not a number of CV_call_e.
inline constexpr u8 unknown_convention = 0xff;

// LF_PROCEDURE and LF_MFUNCTION.
struct Function {
  u32 returns;
  u32 arguments;  // index of an LF_ARGLIST
  u8 convention;  // CV_call_e, or `unknown_convention`
  std::optional<u32> class_;
};

// Nothing: another kind, or damaged.
[[nodiscard]] std::optional<Aggregate> read_aggregate(core::ByteView record);
[[nodiscard]] std::optional<Enumeration> read_enumeration(core::ByteView record);
[[nodiscard]] std::optional<Modifier> read_modifier(core::ByteView record);
[[nodiscard]] std::optional<Pointer> read_pointer(core::ByteView record);
[[nodiscard]] std::optional<Array> read_array(core::ByteView record);
[[nodiscard]] std::optional<BitField> read_bit_field(core::ByteView record);
[[nodiscard]] std::optional<Function> read_function(core::ByteView record);

// The number of types in an LF_ARGLIST, and one of them; 0 as the last is "...".
[[nodiscard]] u32 count_arguments(core::ByteView record);
[[nodiscard]] std::optional<u32> read_argument(core::ByteView record, u32 number);

// Whether a record may define something with members or values that read_aggregate and
// read_enumeration cannot decode: one of an unknown kind, or a damaged one. LF_UNION2 is one of
// them: no file with it was seen, and its descriptions disagree.
[[nodiscard]] bool is_unread_definition(core::ByteView record);

// The kind of a record; 0 for one without.
[[nodiscard]] u16 kind_of(core::ByteView record);

// Whether a compiler made up the name for a type without one.
[[nodiscard]] bool is_unnamed(std::string_view name);

}  // namespace coldtrace::pe
