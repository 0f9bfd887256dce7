#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include <rapidjson/writer.h>

#include "cli/output.hpp"
#include "core/integers.hpp"
#include "core/text_buffer.hpp"

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

  // A value that another writer has written.
  JsonWriter& written(std::string_view json);

  // Ends a value that written() takes, and another may begin.
  void end_value();

  // Forgets what was begun and has not gone to the output.
  void discard();

  // Ends a document: a newline follows, and another may begin.
  void end_document();

 private:
  // Where RapidJSON puts its characters.
  struct Stream {
    using Ch = char;
    void Put(char c) { text.append(c); }  // NOLINT(readability-identifier-naming)
    void Flush() {}                       // NOLINT(readability-identifier-naming)
    core::TextBuffer text;
  };

  // RapidJSON's writer with our own texts, for which it looks at eight characters at once, and
  // integers, which it writes character by character.
  struct Writer : rapidjson::Writer<Stream> {
    using rapidjson::Writer<Stream>::Writer;
    void text(std::string_view text);
    template <class T>
    void integer(T number);
    void written(std::string_view json);
  };

  JsonWriter& integer(u64 number);
  JsonWriter& integer(i64 number);
  void drain();

  Output& output_;
  Int64 int64_;
  Stream stream_;
  Writer writer_{stream_};
};

}  // namespace coldtrace::cli
