#include "tracefile/analysis/records/event_fields.hpp"

#include <algorithm>

#include "coldtrace/core/text.hpp"
#include "coldtrace/core/utf16.hpp"
#include "coldtrace/tracefile/fields/value_text.hpp"

namespace coldtrace::trace_analysis {
namespace {

using tracefile::FieldSchema;
using tracefile::Value;
using tracefile::ValueShape;

// What is not a number as it lies in the payload.
bool is_address(const FieldSchema& field) {
  using tracefile::OutType;
  return field.out == OutType::ipv4 || field.out == OutType::ipv6 ||
         field.out == OutType::socket_address;
}
bool is_turned(const FieldSchema& field) {
  return is_address(field) || field.out == tracefile::OutType::port;
}

std::string address_text(const Value& value) {
  static const tracefile::Clock no_clock;
  core::TextBuffer text;
  tracefile::ValueText{no_clock}.append(text, value);
  return std::string{text.view()};
}

class Picker final : public tracefile::FieldVisitor {
 public:
  Picker(const std::vector<NamedField>& fields, FieldValues& values)
      : fields_{fields}, values_{values} {}

  void value(const FieldSchema& schema, const Value& value) override {
    if (depth_ != 0) return append(schema, value);
    for (const auto& [field, name] : fields_) {
      if (name != schema.name) continue;
      const auto shape = tracefile::shape_of(value);
      if (shape == ValueShape::utf16_text)
        values_.set(field, core::decode_exact(value.bytes));
      else if (shape == ValueShape::ansi_text)
        values_.set(field, core::to_valid_utf8(core::to_chars(value.bytes)));
      else if (is_address(schema))
        values_.set(field, address_text(value));
      else
        values_.set(field, shape == ValueShape::unsigned_integer ? tracefile::shown_number(value)
                                                                 : value.number);
    }
  }
  void begin_array(const FieldSchema& schema) override {
    if (depth_++ == 0) array_ = schema.name;
  }
  void end_array() override { --depth_; }
  void begin_structure(const FieldSchema&) override {
    if (depth_++ == 0) array_ = {};
  }
  void end_structure() override { --depth_; }

 private:
  static constexpr int in_structure_of_array = 2;

  void append(const FieldSchema& schema, const Value& value) {
    if (depth_ != in_structure_of_array || array_.empty()) return;
    for (const auto& [field, name] : fields_)
      if (name.size() == array_.size() + 1 + schema.name.size() && name.starts_with(array_) &&
          name[array_.size()] == '.' && name.ends_with(schema.name))
        values_.append(field, value.number);
  }

  const std::vector<NamedField>& fields_;
  FieldValues& values_;
  std::string_view array_;  // at depth 0
  int depth_ = 0;
};

bool is_signed(tracefile::InType type) {
  using tracefile::InType;
  return type == InType::i8 || type == InType::i16 || type == InType::i32 || type == InType::i64;
}

std::optional<u64> load_number(core::ByteView payload, u16 offset, u8 size, bool is_signed) {
  const auto bytes = core::slice(payload, offset, size);
  if (!bytes) return std::nullopt;
  u64 number = 0;
  std::memcpy(&number, bytes->data(), size);
  const unsigned unused = 64 - 8 * unsigned{size};
  return is_signed ? static_cast<u64>(static_cast<i64>(number << unused) >> unused) : number;
}

}  // namespace

FieldPlan::FieldPlan(const tracefile::EventSchema& schema, std::span<const NamedField> fields,
                     unsigned pointer_size)
    : schema_{&schema} {
  std::size_t offset = 0;
  for (const auto& field : schema.fields) {
    const auto size = tracefile::fixed_size(field, pointer_size);
    if (size == 0) break;
    const auto wanted = std::find_if(fields.begin(), fields.end(),
                                     [&](const NamedField& one) { return one.name == field.name; });
    if (wanted != fields.end() && size <= sizeof(u64) && !is_turned(field))
      fixed_.push_back(
          {wanted->field, static_cast<u8>(size), static_cast<u16>(offset), is_signed(field.in)});
    offset += size;
    if (offset > 0xffff) break;
  }
  const auto declared = [&](const NamedField& one) {
    return std::any_of(schema.fields.begin(), schema.fields.end(), [&](const FieldSchema& field) {
      return field.name == one.name.substr(0, one.name.find('.'));
    });
  };
  const auto named =
      static_cast<std::size_t>(std::count_if(fields.begin(), fields.end(), declared));
  if (named > fixed_.size()) decoded_.assign(fields.begin(), fields.end());
}

void FieldPlan::take(const tracefile::Event& event, FieldValues& values) const {
  values.clear();
  if (schema_ == nullptr) return;
  if (!decoded_.empty()) {
    Picker picker{decoded_, values};
    tracefile::decode_fields(*schema_, event.payload, event.pointer_size, picker);
    return;
  }
  for (const auto& place : fixed_)
    if (const auto number = load_number(event.payload, place.offset, place.size, place.is_signed))
      values.set(place.field, *number);
}

}  // namespace coldtrace::trace_analysis
