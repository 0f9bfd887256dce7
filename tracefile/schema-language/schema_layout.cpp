#include "coldtrace/tracefile/schema-language/schema_layout.hpp"

namespace coldtrace::tracefile {
namespace {

constexpr u64 largest_size = 0xffff'ffff;

// Of one element; the units of text and bytes are 1 or 2.
std::optional<u64> element_size(const Schema& schema, const FieldDeclaration& field,
                                unsigned pointer_size) {
  switch (field.type) {
    case FieldType::boolean:
    case FieldType::ansi:
    case FieldType::bytes:
      return 1;
    case FieldType::utf16:
      return 2;
    case FieldType::bool32:
      return 4;
    case FieldType::pointer:
    case FieldType::size:
      return pointer_size;
    case FieldType::guid:
      return 16;
    case FieldType::file_time:
      return 8;
    case FieldType::sid:
    case FieldType::counted_ansi:
    case FieldType::counted_utf16:
    case FieldType::counted_bytes:
      return std::nullopt;
    case FieldType::enumeration:
    case FieldType::flags: {
      const auto* declaration = schema.find_enum(field.type_name);
      if (declaration == nullptr) return std::nullopt;
      return integer_size(declaration->base);
    }
    case FieldType::structure: {
      const auto* declaration = schema.find_struct(field.type_name);
      if (declaration == nullptr) return std::nullopt;
      const auto layout = compute_layout(schema, declaration->fields, pointer_size);
      if (!layout.size) return std::nullopt;
      return *layout.size;
    }
    default:
      return integer_size(field.type);
  }
}

bool is_text(FieldType type) {
  return type == FieldType::ansi || type == FieldType::utf16;
}

}  // namespace

std::optional<u32> size_of(const Schema& schema, const FieldDeclaration& field,
                           unsigned pointer_size) {
  const auto one = element_size(schema, field, pointer_size);
  if (!one) return std::nullopt;
  u64 size = *one;
  switch (field.amount.kind) {
    case FieldAmount::Kind::none:
      if (is_text(field.type)) return std::nullopt;  // up to a NUL
      break;
    case FieldAmount::Kind::fixed:
      size *= field.amount.number;
      break;
    case FieldAmount::Kind::counted:
    case FieldAmount::Kind::rest:
      return std::nullopt;
  }
  if (size > largest_size) return std::nullopt;
  return static_cast<u32>(size);
}

Layout compute_layout(const Schema& schema, const std::vector<FieldDeclaration>& fields,
                      unsigned pointer_size) {
  Layout layout;
  std::optional<u32> at = 0;
  for (const auto& field : fields) {
    const auto size = size_of(schema, field, pointer_size);
    layout.fields.push_back({at, size});
    if (at && size && u64{*at} + *size <= largest_size)
      at = *at + *size;
    else
      at.reset();
    if (at) layout.fixed_size = *at;
  }
  layout.size = at;
  return layout;
}

}  // namespace coldtrace::tracefile
