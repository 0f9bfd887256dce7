#include "cli/output/json_text.hpp"
#include "cli/trace/lines/trace_fields.hpp"
#include "coldtrace/tracefile/fields/value_text.hpp"

namespace coldtrace::cli {
namespace {

using tracefile::InType;
using tracefile::OutType;
using tracefile::Value;
using tracefile::ValueShape;
using Form = FixedFieldsText::Form;

// Of all names together: no event is too small for them.
constexpr std::size_t most_name_bytes = 4096;

bool is_signed(InType in) {
  return in == InType::i8 || in == InType::i16 || in == InType::i32 || in == InType::i64 ||
         in == InType::session_time;
}

bool is_number(InType in) {
  return in != InType::guid && in != InType::system_time;
}

Form form_of(const Value& value, bool clock_known) {
  if (value.out == OutType::encrypted || value.out == OutType::etw_event) return Form::other;
  switch (tracefile::shape_of(value, clock_known)) {
    case ValueShape::unsigned_integer:
      return Form::unsigned_integer;
    case ValueShape::signed_integer:
      return Form::signed_integer;
    case ValueShape::boolean:
      return Form::boolean;
    case ValueShape::text:
      return is_number(value.in) && tracefile::hex_number(value) ? Form::hexadecimal : Form::other;
    default:
      return Form::other;
  }
}

}  // namespace

FixedFieldsText::FixedFieldsText(const tracefile::EventKind& kind, unsigned pointer_size,
                                 bool clock_known)
    : all_{pointer_size == 8 ? kind.fixed64 : kind.fixed32} {
  u32 offset = 0;
  std::size_t name_bytes = 0;
  core::TextBuffer key;
  for (std::size_t i = 0; i < all_.count; ++i) {
    const auto& field = kind.schema->fields[i];
    const auto size = static_cast<u8>(tracefile::fixed_size(field, pointer_size));
    key.clear();
    if (i > 0) key.append(',');
    append_json_text(key, field.name);
    key.append(':');
    const Value value{field.in, field.out, size, 1, {}};
    fields_.push_back({&field, static_cast<u32>(keys_.size()), static_cast<u32>(key.size()), offset,
                       size, form_of(value, clock_known),
                       field.out == OutType::port || is_signed(field.in),
                       field.out >= OutType::win32_error || field.map});
    keys_ += key.view();
    offset += size;
    name_bytes += field.name.size();
  }
  keys_.append(key_spoils, ' ');
  if (name_bytes <= most_name_bytes) return;
  fields_.clear();
  all_ = {};
}

Value FixedFieldsText::read(const Field& field, core::ByteView payload) {
  const auto& schema = *field.schema;
  const auto bytes = payload.subspan(field.offset, field.size);
  if (!is_number(schema.in)) return {schema.in, schema.out, 0, 0, bytes};
  u64 number = 0;
  switch (field.size) {
    case 1:
      number = *core::load<u8>(bytes, 0);
      break;
    case 2:
      number = *core::load<u16>(bytes, 0);
      break;
    case 4:
      number = *core::load<u32>(bytes, 0);
      break;
    default:
      number = *core::load<u64>(bytes, 0);
      break;
  }
  if (is_signed(schema.in) && field.size < 8) {
    const unsigned unused = 64U - field.size * 8U;
    number = static_cast<u64>(static_cast<i64>(number << unused) >> unused);
  }
  return {schema.in, schema.out, field.size, number, bytes};
}

}  // namespace coldtrace::cli
