#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "cli/output.hpp"
#include "core/integers.hpp"

namespace coldtrace::cli {

// How integers above 2^53, which JavaScript rounds, are written.
enum class Int64 : u8 { number, string };

// Writes JSON as it is told, in constant memory: every line, and every 64 KiB, goes to `output`.
// Any text is accepted; bytes that are not UTF-8 become U+FFFD.
class JsonWriter {
 public:
  JsonWriter(Output& output, Int64 int64) : output_{output}, int64_{int64} {}

  JsonWriter& begin_object();
  JsonWriter& end_object();
  JsonWriter& begin_array();
  JsonWriter& end_array();
  JsonWriter& key(std::string_view name);

  JsonWriter& value(std::nullptr_t);
  JsonWriter& value(bool flag);
  JsonWriter& value(std::string_view text);
  JsonWriter& value(const std::string& text) { return value(std::string_view{text}); }
  JsonWriter& value(const char* text) { return value(std::string_view{text}); }
  JsonWriter& value(double number);
  template <class T>
  requires std::is_integral_v<T> JsonWriter& value(T number) {
    if constexpr (std::is_signed_v<T>) {
      return integer(static_cast<i64>(number));
    } else {
      return integer(static_cast<u64>(number));
    }
  }
  template <class T>
  JsonWriter& value(const std::optional<T>& maybe) {
    return maybe ? value(*maybe) : value(nullptr);
  }

  // A member of the current object.
  template <class T>
  JsonWriter& field(std::string_view name, const T& content) {
    return key(name).value(content);
  }

  // Ends a document: a newline follows, and another may begin.
  void end_document();

 private:
  using Writer = rapidjson::Writer<rapidjson::StringBuffer>;

  JsonWriter& integer(u64 number);
  JsonWriter& integer(i64 number);
  void drain();

  Output& output_;
  Int64 int64_;
  rapidjson::StringBuffer buffer_;
  Writer writer_{buffer_};
};

}  // namespace coldtrace::cli
