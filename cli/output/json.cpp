#include "cli/output/json.hpp"

namespace coldtrace::cli {

JsonWriter& JsonWriter::begin_object() {
  output_.make_room();
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
  value(name);
  text_.append(':');
  follows_ = false;
  return *this;
}

JsonWriter& JsonWriter::written(const std::vector<core::TextBuffer>& pieces) {
  separate();
  for (const auto& piece : pieces) output_.write(piece.view());
  return *this;
}

void JsonWriter::end_document() {
  text_.append('\n');
  follows_ = false;
}

}  // namespace coldtrace::cli
