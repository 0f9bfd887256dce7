#include "cli/trace/lines/trace_fields.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/compile.h>
#include <fmt/format.h>

#include "cli/output/json_text.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/core/utf16.hpp"
#include "coldtrace/tracefile/names/value_names.hpp"

namespace coldtrace::cli {
namespace {

using tracefile::FieldSchema;
using tracefile::InType;
using tracefile::OutType;
using tracefile::Value;
using tracefile::ValueShape;

// Names of fields that the fields of an event may have between them.
constexpr std::size_t least_name_room = 4096;
constexpr std::size_t name_room_per_byte = 64;

void append_floating(core::TextBuffer& json, const Value& value) {
  const double number = shown_floating(value);
  if (!std::isfinite(number)) {
    json.append(std::isnan(number) ? "\"NaN\"" : number > 0 ? "\"Infinity\"" : "\"-Infinity\"");
    return;
  }
  if (number == 0) {
    json.append(std::signbit(number) ? "-0.0" : "0");
    return;
  }
  std::array<char, 64> text;
  const auto end = value.in == InType::f32
                       ? fmt::format_to(text.data(), FMT_COMPILE("{}"), static_cast<float>(number))
                       : fmt::format_to(text.data(), FMT_COMPILE("{}"), number);
  json.append(std::string_view{text.data(), static_cast<std::size_t>(end - text.data())});
}

// Whether a value that is shown as text is a number, a time or an identifier, and nobody's name.
bool is_plain(const Value& value) {
  switch (value.in) {
    case InType::guid:
    case InType::file_time:
    case InType::session_time:
    case InType::system_time:
      return true;
    default:
      return tracefile::hex_number(value).has_value();
  }
}

}  // namespace

std::string hashed_text(const privacy::HashedNames& names, std::string_view text) {
  std::string hashes;
  names.append_path(hashes, text, "/\\");
  return hashes;
}

void TraceFields::start(core::TextBuffer& json, const tracefile::Event& event,
                        const tracefile::EventKind& kind, i64 time) {
  json_ = &json;
  texts_.start(event);
  resolved_.start(event.payload.size());
  etw_event_ = {};
  control_call_.start(kind.name, event.pointer_size);
  pid_ = tracefile::name_scope_of(event).pid;
  time_ = time;
  name_bytes_ = 0;
  name_room_ = least_name_room + name_room_per_byte * event.payload.size();
  cut_ = false;
  arrays_ = 0;
  first_ = true;
}

bool TraceFields::has_room(const FieldSchema& field) {
  cut_ = !in_array() && name_bytes_ + field.name.size() > name_room_;
  return !cut_;
}

void TraceFields::key(std::string_view name) {
  if (!first_) json_->append(',');
  first_ = false;
  if (in_array()) return;
  name_bytes_ += name.size();
  append_json_text(*json_, name);
  json_->append(':');
}

void TraceFields::key(const FieldSchema& field) {
  if (!field.plain_name || in_array()) return key(field.name);
  name_bytes_ += field.name.size();
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
  if (value.out == OutType::encrypted) return encrypted(field, value);
  const auto shape = shape_of(value, clock_known_);
  if (shape == ValueShape::utf16_text || shape == ValueShape::ansi_text) {
    text(field, value, shape == ValueShape::utf16_text);
    return;
  }
  key(field);
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
      other_text(value);
      break;
  }
  control_call_.add_field(field.name, value.number);
  if (value.out >= OutType::win32_error || field.map) resolve(field, value);
}

void TraceFields::encrypted(const FieldSchema& field, const Value& value) {
  key(field);
  const auto bytes = key_ != nullptr ? privacy::unseal(*key_, value.bytes) : std::nullopt;
  if (key_ != nullptr && !bytes) ++still_sealed_;
  json_->append('"');
  if (bytes)
    json_->append_hex(*bytes);
  else
    json_->append("encrypted");
  json_->append('"');
}

void TraceFields::other_text(const Value& value) {
  json_->append('"');
  if (hashed_ == nullptr || is_plain(value)) {
    texts_.append(*json_, value);
  } else {
    core::TextBuffer text;
    texts_.append(text, value);
    std::string hash;
    hashed_->append_text(hash, text.view());
    json_->append(hash);
  }
  json_->append('"');
}

tracefile::FixedFields TraceFields::append_fixed(const FixedFieldsText& text,
                                                 core::ByteView payload) {
  using Form = FixedFieldsText::Form;
  if (payload.size() < text.all().size || control_call_.wants_fields()) return {};
  for (const auto& field : text.fields()) {
    const auto read = FixedFieldsText::read(field, payload);
    if (field.form == Form::other) {
      value(*field.schema, read);
      continue;
    }
    first_ = false;
    name_bytes_ += field.schema->name.size();
    char* const start = json_->reserve(field.key_size + FixedFieldsText::key_spoils);
    json_->commit(static_cast<std::size_t>(text.write_key(start, field) - start));
    switch (field.form) {
      case Form::unsigned_integer:
        append_json_integer(*json_, field.changed ? shown_number(read) : read.number, int64_);
        break;
      case Form::signed_integer:
        append_json_integer(*json_, static_cast<i64>(read.number), int64_);
        break;
      case Form::boolean:
        json_->append(read.number != 0 ? "true" : "false");
        break;
      default:
        json_->append('"');
        json_->append_hex(read.size < 8 ? read.number & ((u64{1} << read.size * 8U) - 1)
                                        : read.number);
        json_->append('"');
        break;
    }
    if (field.resolved) resolve(*field.schema, read);
  }
  return text.all();
}

// A text that does not say all its bytes has them beside it, or in its place inside an array.
void TraceFields::text(const FieldSchema& field, const Value& value, bool utf16) {
  if (hashed_ != nullptr) {
    key(field);
    append_json_text(*json_, utf16 ? hashed_text(*hashed_, core::decode_exact(value.bytes))
                                   : hashed_text(*hashed_, core::to_chars(value.bytes)));
    return;
  }
  const auto before = json_->size();
  const bool was_first = first_;
  key(field);
  const bool valid = utf16 ? append_json_utf16(*json_, value.bytes)
                           : append_json_text(*json_, core::to_chars(value.bytes));
  const bool odd = utf16 && value.bytes.size() % 2 != 0;
  if (valid && !odd && value.whole.empty()) return;
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
  json_->append_hex(value.whole.empty() ? value.bytes : value.whole);
  json_->append(in_array() ? "\"}" : "\"");
}

// What a system call's number or the hash of its name stands for.
std::string_view TraceFields::find_call_name(const Value& value) {
  const bool is_hash = value.out == OutType::name_hash;
  if (is_hash) control_call_.add_name_hash(static_cast<u32>(value.number));
  if (calls_ == nullptr) return {};
  const auto name = calls_->find(value);
  if (!is_hash && !name.empty()) control_call_.add_service(name);
  return name;
}

bool TraceFields::resolve_function(const FieldSchema& field, const Value& value) {
  if (frames_ == nullptr) return false;
  name_ = find_function_name(*frames_, names_, value, {pid_, time_});
  if (name_.empty()) return false;
  resolved_.add(field.name, name_);
  return true;
}

// The method or image of a code address.
bool TraceFields::resolve_place(const FieldSchema& field, const Value& value) {
  if (frames_ == nullptr) return false;
  using Form = FrameNames::ImageForm;
  const auto form = value.out == OutType::code_pointer ? Form::path : Form::file;
  resolved_.add(field.name, frames_->find_place(pid_, value.number, time_, form));
  return true;
}

void TraceFields::resolve(const FieldSchema& field, const Value& value) {
  const auto add = [&](std::string_view name) { resolved_.add(field.name, name); };
  switch (field.map ? OutType::none : value.out) {
    case OutType::call_argument:
      control_call_.add_argument(value.number);
      return;
    case OutType::code_pointer:
    case OutType::stack_frame:
      if (hashed_ != nullptr) return;
      if (resolve_function(field, value) || resolve_place(field, value)) return;
      break;
    case OutType::system_call:
    case OutType::name_hash:
      return add(find_call_name(value));
    default:
      break;
  }
  const auto name = tracefile::find_value_name(field, value, names_, {pid_, time_}, name_);
  if (!name) return;
  const bool is_own = value.out == OutType::file_key || value.out == OutType::registry_key;
  if (hashed_ != nullptr && is_own && !field.map)
    add(hashed_text(*hashed_, *name));
  else
    add(*name);
}

void TraceFields::begin_array(const FieldSchema& field) {
  key(field);
  json_->append('[');
  arrays_ = arrays_ << 1U | 1U;
  resolved_.begin_array();
  first_ = true;
}

void TraceFields::end_array() {
  json_->append(']');
  arrays_ >>= 1U;
  resolved_.end_array();
  first_ = false;
}

void TraceFields::begin_structure(const FieldSchema& field) {
  key(field);
  json_->append('{');
  arrays_ <<= 1U;
  resolved_.begin_structure(field.name);
  first_ = true;
}

void TraceFields::end_structure() {
  json_->append('}');
  arrays_ >>= 1U;
  resolved_.end_structure();
  first_ = false;
}

}  // namespace coldtrace::cli
