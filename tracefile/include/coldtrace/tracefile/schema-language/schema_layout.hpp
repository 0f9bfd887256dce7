#pragma once

#include "coldtrace/tracefile/schema-language/schema_language.hpp"

namespace coldtrace::tracefile {

// Fields lie one after the other without padding. Sizes and offsets are in bytes.

// Where a field lies: absent after one whose size depends on the data.
struct FieldPlace {
  std::optional<u32> offset;
  std::optional<u32> size;  // absent if it depends on the data
};

// Where the fields of an event or structure lie.
struct Layout {
  std::vector<FieldPlace> fields;  // in the order of the declaration
  std::optional<u32> size;         // of all; absent if it depends on the data
  u32 fixed_size = 0;              // up to the first field of a size that does
};

// The size of a field of the schema; absent if it depends on the data.
[[nodiscard]] std::optional<u32> size_of(const Schema& schema, const FieldDeclaration& field,
                                         unsigned pointer_size);

// `fields` are of `schema`; `pointer_size` is 4 or 8.
[[nodiscard]] Layout compute_layout(const Schema& schema,
                                    const std::vector<FieldDeclaration>& fields,
                                    unsigned pointer_size);

}  // namespace coldtrace::tracefile
