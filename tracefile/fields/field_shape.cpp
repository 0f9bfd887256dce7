#include "coldtrace/tracefile/fields/field_shape.hpp"

namespace coldtrace::tracefile {

std::optional<ValueShape> shape_of(const FieldSchema& field, bool clock_known) {
  if (field.in == InType::structure) return std::nullopt;
  if (field.count.rule != FieldSchema::Rule::none && !is_character(field.in, field.out))
    return std::nullopt;
  if (field.out == OutType::encrypted) return ValueShape::text;
  const bool has_four_bytes = field.in == InType::u32 || field.in == InType::i32;
  const Value value{field.in, field.out, static_cast<u8>(has_four_bytes ? 4 : 8), 1, {}};
  return shape_of(value, clock_known);
}

}  // namespace coldtrace::tracefile
