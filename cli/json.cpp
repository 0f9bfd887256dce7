#include "cli/json.hpp"

#include <fmt/format.h>

#include "cli/json_text.hpp"

namespace coldtrace::cli {
namespace {

// One growing buffer is slower than one that stays in the cache.
constexpr std::size_t buffer_size = 1 << 16;
constexpr u64 largest_exact = u64{1} << 53;

}  // namespace

void JsonWriter::Writer::text(std::string_view text) {
  Prefix(rapidjson::kStringType);
  append_json_text(os_->text, text);
}

template <class T>
void JsonWriter::Writer::integer(T number) {
  Prefix(rapidjson::kNumberType);
  os_->text.append_decimal(number);
}

void JsonWriter::Writer::written(std::string_view json) {
  Prefix(rapidjson::kObjectType);
  os_->text.append(json);
}

void JsonWriter::drain() {
  output_.write(stream_.text.view());
  stream_.text.clear();
}

JsonWriter& JsonWriter::begin_object() {
  if (stream_.text.size() >= buffer_size) drain();
  writer_.StartObject();
  return *this;
}

JsonWriter& JsonWriter::end_object() {
  writer_.EndObject();
  return *this;
}

JsonWriter& JsonWriter::begin_array() {
  writer_.StartArray();
  return *this;
}

JsonWriter& JsonWriter::end_array() {
  writer_.EndArray();
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  writer_.text(name);
  return *this;
}

JsonWriter& JsonWriter::value(std::nullptr_t) {
  writer_.Null();
  return *this;
}

JsonWriter& JsonWriter::value(bool flag) {
  writer_.Bool(flag);
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
  writer_.text(text);
  return *this;
}

JsonWriter& JsonWriter::value(double number) {
  writer_.Double(number);
  return *this;
}

JsonWriter& JsonWriter::integer(u64 number) {
  if (int64_ == Int64::string && number > largest_exact)
    return value(fmt::format_int{number}.c_str());
  writer_.integer(number);
  return *this;
}

JsonWriter& JsonWriter::integer(i64 number) {
  const u64 magnitude = number < 0 ? u64{0} - static_cast<u64>(number) : static_cast<u64>(number);
  if (int64_ == Int64::string && magnitude > largest_exact)
    return value(fmt::format_int{number}.c_str());
  writer_.integer(number);
  return *this;
}

JsonWriter& JsonWriter::written(std::string_view json) {
  if (stream_.text.size() >= buffer_size) drain();
  writer_.written(json);
  return *this;
}

void JsonWriter::end_value() {
  drain();
  writer_.Reset(stream_);
}

void JsonWriter::discard() {
  stream_.text.clear();
  writer_.Reset(stream_);
}

void JsonWriter::end_document() {
  stream_.Put('\n');
  end_value();
}

}  // namespace coldtrace::cli
