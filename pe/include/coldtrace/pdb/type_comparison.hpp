#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "coldtrace/pdb/type_file.hpp"

namespace coldtrace::pe {

// What a member or enumerator is in one of two PDBs.
struct ComparedMember {
  std::optional<u64> offset;  // of what takes place
  std::optional<u64> size;
  std::optional<u8> bit_position, bit_length;
  std::optional<u64> value;  // of an enumerator
  std::string type;          // with the content of types that have no name
};

// A member of a type that is not the same in both tables.
struct MemberChange {
  std::string_view name;  // empty: of a base class and the like, told by `kind`
  Field::Kind kind;
  std::optional<ComparedMember> before, after;  // one is absent where the member is new or gone

  [[nodiscard]] bool moved() const;    // other offset or bits
  [[nodiscard]] bool resized() const;  // other size
  [[nodiscard]] bool retyped() const;  // other type, or number of an enumerator
};

// A type that is not the same in both tables.
struct TypeChange {
  std::string_view name;
  TypeTable::Family family;
  std::optional<u32> before, after;  // indexes
  std::optional<u64> size_before, size_after;
  std::vector<MemberChange> members;
};

// Types of two tables, paired by name and family.
struct TypeComparison {
  std::vector<TypeChange> changes;  // by name
  u64 same = 0;
  u64 changed = 0, added = 0, removed = 0;
};

// Compares the types that have a name and a definition, those of `wanted` or all; namesakes in the
// order of their files. Types without a name are compared where they are members: their names are
// numbers of records, which any build changes.
[[nodiscard]] TypeComparison compare_types(const TypeTable& before, const TypeTable& after,
                                           std::span<const std::string> wanted,
                                           core::Findings& findings);

}  // namespace coldtrace::pe
