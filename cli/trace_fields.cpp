#include "cli/trace_fields.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/compile.h>
#include <fmt/format.h>

#include "cli/json_text.hpp"
#include "core/text.hpp"

namespace coldtrace::cli {
namespace {

using tracefile::FieldSchema;
using tracefile::InType;
using tracefile::OutType;
using tracefile::Value;
using tracefile::ValueShape;

void append_floating(core::TextBuffer& json, const Value& value) {
  const double number = shown_floating(value);
  if (!std::isfinite(number)) {
    json.append(std::isnan(number) ? "\"NaN\"" : number > 0 ? "\"Infinity\"" : "\"-Infinity\"");
    return;
  }
  std::array<char, 64> text;
  const auto end = value.in == InType::f32
                       ? fmt::format_to(text.data(), FMT_COMPILE("{}"), static_cast<float>(number))
                       : fmt::format_to(text.data(), FMT_COMPILE("{}"), number);
  json.append(std::string_view{text.data(), static_cast<std::size_t>(end - text.data())});
}

}  // namespace

void TraceFields::start(core::TextBuffer& json, const tracefile::Event& event,
                        const tracefile::EventKind& kind, i64 time) {
  json_ = &json;
  resolved_.clear();
  etw_event_ = {};
  control_call_.start(kind.name, event.pointer_size);
  pid_ = event.pid;
  time_ = time;
  arrays_ = 0;
  first_ = true;
}

void TraceFields::key(std::string_view name) {
  if (!first_) json_->append(',');
  first_ = false;
  if (in_array()) return;
  append_json_text(*json_, name);
  json_->append(':');
}

void TraceFields::key(const FieldSchema& field) {
  if (!field.plain_name || in_array()) return key(field.name);
  char* at = json_->reserve(field.name.size() + 4);
  char* const start = at;
  *at = ',';
  at += first_ ? 0 : 1;
  *at++ = '"';
  at = std::copy(field.name.begin(), field.name.end(), at);
  *at++ = '"';
  *at++ = ':';
  json_->commit(static_cast<std::size_t>(at - start));
  first_ = false;
}

void TraceFields::value(const FieldSchema& field, const Value& value) {
  const auto shape = shape_of(value);
  if (shape == ValueShape::utf16_text || shape == ValueShape::ansi_text) {
    text(field, value, shape == ValueShape::utf16_text);
    return;
  }
  key(field);
  if (value.out == OutType::encrypted) {
    json_->append("\"encrypted\"");
    return;
  }
  if (value.out == OutType::etw_event) etw_event_ = value.bytes;
  switch (shape) {
    case ValueShape::absent:
      json_->append("null");
      break;
    case ValueShape::unsigned_integer:
      append_json_integer(*json_, shown_number(value), int64_);
      break;
    case ValueShape::signed_integer:
      append_json_integer(*json_, static_cast<i64>(value.number), int64_);
      break;
    case ValueShape::floating:
      append_floating(*json_, value);
      break;
    case ValueShape::boolean:
      json_->append(value.number != 0 ? "true" : "false");
      break;
    default:
      json_->append('"');
      texts_.append(*json_, value);
      json_->append('"');
      break;
  }
  control_call_.add_field(field.name, value.number);
  if (value.out >= OutType::code_pointer || field.map) resolve(field, value);
}

// A text that is not valid carries its bytes beside it, or in its place inside an array.
void TraceFields::text(const FieldSchema& field, const Value& value, bool utf16) {
  const auto before = json_->size();
  const bool was_first = first_;
  key(field);
  const bool valid = utf16 ? append_json_utf16(*json_, value.bytes)
                           : append_json_text(*json_, core::to_chars(value.bytes));
  if (valid) return;
  const std::string_view suffix = utf16 ? "_utf16" : "_bytes";
  if (in_array()) {
    json_->shrink_to(before);
    first_ = was_first;
    key(field);
    json_->append(fmt::format("{{\"text{}\":\"", suffix));
  } else {
    key(field.name + std::string{suffix});
    json_->append('"');
  }
  json_->append_hex(value.bytes);
  json_->append(in_array() ? "\"}" : "\"");
}

void TraceFields::resolve(const FieldSchema& field, const Value& value) {
  if (field.map) {
    if (const auto names = find_mapped_names(*field.map, value.number); !names.empty())
      add_resolved(field.name, names);
    return;
  }
  std::optional<std::string_view> name;
  if (value.out == OutType::call_argument) {
    control_call_.add_argument(value.number);
    return;
  }
  if (value.out == OutType::system_call || value.out == OutType::name_hash) {
    const bool is_hash = value.out == OutType::name_hash;
    if (is_hash) control_call_.add_name_hash(static_cast<u32>(value.number));
    if (calls_ == nullptr) return;
    const auto& table = is_hash ? calls_->by_hash : calls_->by_number;
    const auto found = table.find(static_cast<u32>(value.number));
    if (found == table.end()) return;
    add_resolved(field.name, found->second);
    if (!is_hash) control_call_.add_service(found->second);
    return;
  }
  if (value.out == OutType::file_key) {
    name = names_.find_file(value.number, time_);
  } else if (value.out == OutType::registry_key) {
    name = names_.find_registry_key(value.number, time_);
  } else if (value.out == OutType::code_pointer && pid_) {
    if (const auto image = names_.find_image(*pid_, value.number, time_)) {
      add_resolved(field.name, fmt::format("{}+{:#x}", image->name, value.number - image->base));
      return;
    }
  }
  if (name) add_resolved(field.name, *name);
}

// Elements of arrays are not told apart: theirs are left out.
void TraceFields::add_resolved(std::string_view name, std::string_view text) {
  if (arrays_ != 0) return;
  if (resolved_.size() > 0) resolved_.append(',');
  append_json_text(resolved_, name);
  resolved_.append(':');
  append_json_text(resolved_, text);
}

void TraceFields::begin_array(const FieldSchema& field) {
  key(field);
  json_->append('[');
  arrays_ = arrays_ << 1U | 1U;
  first_ = true;
}

void TraceFields::end_array() {
  json_->append(']');
  arrays_ >>= 1U;
  first_ = false;
}

void TraceFields::begin_structure(const FieldSchema& field) {
  key(field);
  json_->append('{');
  arrays_ <<= 1U;
  first_ = true;
}

void TraceFields::end_structure() {
  json_->append('}');
  arrays_ >>= 1U;
  first_ = false;
}

}  // namespace coldtrace::cli
