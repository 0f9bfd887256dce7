#pragma once

#include <string_view>
#include <vector>

#include "coldtrace/pdb/type_table.hpp"

namespace coldtrace::pe {

// Something that occupies bits of a structure.
struct PlacedMember {
  std::string_view name;  // empty: a base class, or the pointer to the virtual functions
  u32 type;
  u64 offset;  // in bytes
  u64 size;
  // For a bit field, in the integer of `size` bytes at `offset`.
  u8 bit_position = 0;
  u8 bit_length = 0;
  [[nodiscard]] bool is_bit_field() const { return bit_length != 0; }
  [[nodiscard]] bool lies_within(u64 bytes) const {
    return offset <= bytes && size <= bytes - offset;
  }
};

// The rebuilt arrangement of members: PDBs have the members of unnamed structures and unions
// flattened into the enclosing ones.
struct Region {
  enum class Kind : u8 {
    member,        // one; `members` is its number
    bits,          // bit fields of one integer, by ascending positions
    alternatives,  // a union of `parts`, each a sequence
    sequence,      // `parts`, one after the other, from its own `offset` on
  };
  Kind kind;
  u64 offset;  // from the start of the outermost type
  u64 size;
  std::vector<std::size_t> members;
  std::vector<Region> parts;
};

// The regions of a structure, or of a union, whose alternatives all begin at 0. Where members
// overlap in a way that no nesting of unnamed structures and unions explains, each alternative has
// members that do not overlap, or in the worst case one. Members that end after `size` are left
// out.
[[nodiscard]] Region regions_of(const std::vector<PlacedMember>& members, u64 size, bool is_union);

}  // namespace coldtrace::pe
