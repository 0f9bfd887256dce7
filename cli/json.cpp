#include "cli/json.hpp"

#include <fmt/format.h>

#include "cli/json_text.hpp"

namespace coldtrace::cli {
namespace {

// One growing buffer is slower than one that stays in the cache.
constexpr std::size_t buffer_size = 1 << 16;
constexpr u64 largest_exact = u64{1} << 53;

}  // namespace

void JsonWriter::drain() {
  output_.write(text_.view());
  text_.clear();
}

JsonWriter& JsonWriter::begin_object() {
  if (text_.size() >= buffer_size) drain();
  separate();
  text_.append('{');
  follows_ = false;
  return *this;
}

JsonWriter& JsonWriter::end_object() {
  text_.append('}');
  follows_ = true;
  return *this;
}

JsonWriter& JsonWriter::begin_array() {
  separate();
  text_.append('[');
  follows_ = false;
  return *this;
}

JsonWriter& JsonWriter::end_array() {
  text_.append(']');
  follows_ = true;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  text(name);
  text_.append(':');
  follows_ = false;
  return *this;
}

JsonWriter& JsonWriter::value(std::nullptr_t) {
  separate();
  text_.append("null");
  return *this;
}

JsonWriter& JsonWriter::boolean(bool flag) {
  separate();
  text_.append(flag ? std::string_view{"true"} : "false");
  return *this;
}

bool JsonWriter::text(std::string_view text) {
  separate();
  return append_json_text(text_, text);
}

JsonWriter& JsonWriter::integer(u64 number) {
  if (int64_ == Int64::string && number > largest_exact)
    return value(fmt::format_int{number}.c_str());
  separate();
  text_.append_decimal(number);
  return *this;
}

JsonWriter& JsonWriter::integer(i64 number) {
  const u64 magnitude = number < 0 ? u64{0} - static_cast<u64>(number) : static_cast<u64>(number);
  if (int64_ == Int64::string && magnitude > largest_exact)
    return value(fmt::format_int{number}.c_str());
  separate();
  text_.append_decimal(number);
  return *this;
}

JsonWriter& JsonWriter::written(std::string_view json) {
  if (text_.size() >= buffer_size) drain();
  separate();
  text_.append(json);
  return *this;
}

void JsonWriter::end_value() {
  drain();
  follows_ = false;
}

void JsonWriter::discard() {
  text_.clear();
  follows_ = false;
}

void JsonWriter::end_document() {
  text_.append('\n');
  end_value();
}

}  // namespace coldtrace::cli
