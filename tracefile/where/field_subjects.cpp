#include "tracefile/where/field_subjects.hpp"

#include <array>
#include <charconv>

#include "coldtrace/core/text.hpp"
#include "coldtrace/core/utf16.hpp"
#include "coldtrace/tracefile/events/clock_change.hpp"
#include "coldtrace/tracefile/names/value_names.hpp"

namespace coldtrace::tracefile {
namespace {

// As a line shows it: the shortest digits that make the number again.
double shown_number_of(const Value& value) {
  const double number = shown_floating(value);
  if (value.in != InType::f32) return number;
  std::array<char, 32> digits{};
  const auto end =
      std::to_chars(digits.data(), digits.data() + digits.size(), static_cast<float>(number));
  double shown = number;
  std::from_chars(digits.data(), end.ptr, shown);
  return shown;
}

std::optional<Number> hex_number_of(const Value& value) {
  const auto number = hex_number(value);
  return number ? std::optional{Number::of(*number)} : std::nullopt;
}

}  // namespace

Subject FieldSubjects::read(const Event& event, const FieldSchema& field, const Value& value,
                            bool with_text) {
  Subject subject;
  texts_.start(event);
  if (value.out == OutType::encrypted) {
    subject.text = "encrypted";
    return subject;
  }
  switch (shape_of(value, clock_.known())) {
    case ValueShape::absent:
      return subject;
    case ValueShape::unsigned_integer:
      subject.number = Number::of(shown_number(value));
      break;
    case ValueShape::signed_integer:
      subject.number = Number::of(static_cast<i64>(value.number));
      break;
    case ValueShape::floating:
      subject.number = Number::of(shown_number_of(value));
      break;
    case ValueShape::boolean:
      subject.boolean = value.number != 0;
      break;
    case ValueShape::utf16_text:
      if (with_text) text_ = core::decode_utf16(value.bytes).utf8;
      subject.text = text_;
      break;
    case ValueShape::ansi_text:
      if (with_text) text_ = core::to_valid_utf8(core::to_chars(value.bytes));
      subject.text = text_;
      break;
    case ValueShape::text:
      read_shown(event, value, with_text, subject);
      break;
  }
  if (with_text) subject.name = name_of(event, field, value);
  return subject;
}

Subject FieldSubjects::read_name(const Event& event, const FieldSchema& field, const Value& value) {
  Subject subject;
  if (value.out == OutType::encrypted) return subject;
  if (const auto name = name_of(event, field, value); !name.empty()) subject.text = name;
  return subject;
}

std::string_view FieldSubjects::name_of(const Event& event, const FieldSchema& field,
                                        const Value& value) {
  const auto scope = name_scope_of(event);
  if (lines_ != nullptr && !field.map)
    if (const auto name = lines_->name_value(value, scope)) return name_ = core::shown_text(*name);
  const auto name = find_value_name(field, value, names_, scope, name_);
  return core::shown_text(name.value_or(std::string_view{}), name_);
}

void FieldSubjects::read_shown(const Event& event, const Value& value, bool with_text,
                               Subject& subject) {
  subject.number = hex_number_of(value);
  if (value.in == InType::guid) subject.guid = core::to_guid(value.bytes);
  if (value.in == InType::file_time && !subject.number) subject.time = core::FileTime{value.number};
  if (value.in == InType::session_time)
    subject.time = clock_.find_file_time(in_clock_of_trace(event, static_cast<i64>(value.number)));
  if (with_text) {
    shown_.clear();
    texts_.append(shown_, value);
  }
  subject.text = shown_.view();
}

}  // namespace coldtrace::tracefile
