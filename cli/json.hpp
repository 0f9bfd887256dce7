#pragma once

#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

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
  // A literal, in which nothing needs an escape.
  template <std::size_t Size>
  JsonWriter& key(const char (&name)[Size]) {
    separate();
    char* at = text_.reserve(Size + 2);
    *at++ = '"';
    std::memcpy(at, name, Size - 1);
    at += Size - 1;
    *at++ = '"';
    *at = ':';
    text_.commit(Size + 2);
    follows_ = false;
    return *this;
  }

  JsonWriter& value(std::nullptr_t);
  JsonWriter& value(std::string_view text) {
    this->text(text);
    return *this;
  }
  JsonWriter& value(const std::string& text) { return value(std::string_view{text}); }
  JsonWriter& value(const char* text) { return value(std::string_view{text}); }
  template <class T>
  requires std::is_integral_v<T> JsonWriter& value(T number) {
    if constexpr (std::is_same_v<T, bool>) {
      return boolean(number);
    } else if constexpr (std::is_signed_v<T>) {
      return integer(static_cast<i64>(number));
    } else {
      return integer(static_cast<u64>(number));
    }
  }
  template <class T>
  JsonWriter& value(const std::optional<T>& maybe) {
    return maybe ? value(*maybe) : value(nullptr);
  }

  // A value; returns whether all of it was UTF-8.
  bool text(std::string_view text);

  // A member of the current object.
  template <class T>
  JsonWriter& field(std::string_view name, const T& content) {
    return key(name).value(content);
  }
  template <std::size_t Size, class T>
  JsonWriter& field(const char (&name)[Size], const T& content) {
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
  // Before a value of an array or a member of an object.
  void separate() {
    if (follows_) text_.append(',');
    follows_ = true;
  }
  JsonWriter& boolean(bool flag);
  JsonWriter& integer(u64 number);
  JsonWriter& integer(i64 number);
  void drain();

  Output& output_;
  Int64 int64_;
  core::TextBuffer text_;
  bool follows_ = false;  // what comes next follows another value or member
};

}  // namespace coldtrace::cli
