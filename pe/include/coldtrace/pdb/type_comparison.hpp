#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "coldtrace/pdb/type_file.hpp"

namespace coldtrace::pe {

// A member or enumerator in one of two PDBs.
struct ComparedMember {
  std::optional<u64> offset;  // of members with a place
  std::optional<u64> size;
  std::optional<u8> bit_position, bit_length;
  std::optional<u64> value;  // of an enumerator
  std::string type;          // including the content of types without a name
};

// A member of a type that differs between the tables.
struct MemberChange {
  std::string_view name;  // empty for base classes and similar, identified by `kind`
  Field::Kind kind;
  std::optional<ComparedMember> before, after;  // one is absent if the member is new or removed

  [[nodiscard]] bool moved() const;    // different offset or bits
  [[nodiscard]] bool resized() const;  // different size
  [[nodiscard]] bool retyped() const;  // different type, or number of an enumerator
};

// A type that differs between the tables.
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

// Compares the types that have a name and a definition, those of `wanted` or all; those with the
// same name in the order of their files. Types without a name are compared as part of the members
// that use them: their names are record numbers, which every build changes.
[[nodiscard]] TypeComparison compare_types(const TypeTable& before, const TypeTable& after,
                                           std::span<const std::string> wanted,
                                           core::Findings& findings);

}  // namespace coldtrace::pe
