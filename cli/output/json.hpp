#pragma once

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "cli/output/json_number.hpp"
#include "cli/output/json_text.hpp"
#include "cli/output/output.hpp"
#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/core/utf16.hpp"

namespace coldtrace::cli {

// Text of a file. Bytes in it that are not UTF-8 become U+FFFD, and a second member, whose name
// ends with "_bytes", then has all of it in hexadecimal. A view without data is null.
struct FileText {
  std::string_view bytes;
};

// Texts of a file, as an array. If one is not UTF-8, a second array of the same length has the
// bytes of each that is not, and null for the others.
template <class Text>
struct FileTexts {
  const std::vector<Text>& all;
};
template <class Text>
FileTexts(const std::vector<Text>&) -> FileTexts<Text>;

// The same, but null if it is empty.
struct MaybeText {
  std::string_view bytes;
};

// Exact text, as core::decode_exact() makes it; null if there is none. Unpaired surrogates become
// U+FFFD, and a second member, whose name ends with "_utf16", then has the units in hexadecimal.
struct ExactText {
  std::optional<std::string_view> exact;
};

// Null if the text is empty; otherwise a view of it, or the text itself if it is a temporary.
inline std::optional<std::string_view> text_or_null(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional{text};
}
template <core::TemporaryText T>
std::optional<std::string> text_or_null(T&& text) {
  return text.empty() ? std::nullopt : std::optional{std::forward<T>(text)};
}

// 7942 becomes the JSON number 7.942.
struct Thousandths {
  u64 count;
};

// Writes JSON to `output` as it goes, in constant memory. Any text is accepted; bytes that are not
// UTF-8 become U+FFFD.
class JsonWriter {
 public:
  JsonWriter(Output& output, Int64 int64)
      : output_{output}, text_{output.buffer()}, int64_{int64} {}

  JsonWriter& begin_object();
  JsonWriter& end_object();
  JsonWriter& begin_array();
  JsonWriter& end_array();

  // A name in the current object; begin_object(), begin_array(), value() or written() follows.
  // Nothing in a literal needs an escape.
  JsonWriter& key(std::string_view name);
  template <std::size_t Size>
  JsonWriter& key(const char (&name)[Size]) {
    separate();
    put(Size + 2, [&](char* at) { return write_name(at, name); });
    follows_ = false;
    return *this;
  }

  // A value: null, a number, a bool, a text, an optional of these, or an array of them.
  template <class T>
  JsonWriter& value(const T& content) {
    separate();
    return put(longest(content), [&](char* at) { return write(at, content); });
  }

  // A member of the current object.
  template <class T>
  JsonWriter& field(std::string_view name, const T& content) {
    return key(name).value(content);
  }
  template <std::size_t Size, class T>
  JsonWriter& field(const char (&name)[Size], const T& content) {
    separate();
    return put(longest_members(name, content),
               [&](char* at) { return write_member(at, name, content); });
  }

  // An object with these members, each a name and a value, in one call.
  template <class... Members>
  JsonWriter& object(const Members&... members) {
    output_.make_room();
    separate();
    return put(longest_members(members...) + 2, [&](char* at) {
      *at++ = '{';
      at = write_members(at, members...);
      *at++ = '}';
      return at;
    });
  }

  // A value that another writer has written, in several pieces.
  JsonWriter& written(const std::vector<core::TextBuffer>& pieces);

  // What comes next is not part of an array or object begun here.
  void start() { follows_ = false; }

  // Ends a document with a newline; another may begin.
  void end_document();

 private:
  // To be called before a value of an array or a member of an object.
  void separate() {
    if (follows_) text_.append(',');
    follows_ = true;
  }

  // Writes at most `most` characters: `write` returns where they end.
  template <class Write>
  JsonWriter& put(std::size_t most, Write&& write) {
    char* const start = text_.reserve(most);
    text_.commit(static_cast<std::size_t>(write(start) - start));
    return *this;
  }

  static std::size_t longest(std::nullptr_t) { return std::string_view{"null"}.size(); }
  static std::size_t longest(std::string_view text) { return longest_json_text(text.size()); }
  template <class T>
  requires std::is_integral_v<T>
  static std::size_t longest(T) { return longest_json_integer; }
  template <class T>
  static std::size_t longest(const std::optional<T>& maybe) {
    return maybe ? longest(*maybe) : longest(nullptr);
  }
  template <class T>
  static std::size_t longest(const std::vector<T>& values) {
    std::size_t sum = 2;
    for (const auto& value : values) sum += longest(value) + 1;
    return sum;
  }
  static std::size_t longest(Thousandths) { return longest_json_integer + 1; }
  static std::size_t longest(FileText text) {
    return longest_json_text(text.bytes.size()) + text.bytes.size() * 2;
  }
  static std::size_t longest(MaybeText text) { return longest(FileText{text.bytes}); }
  static std::size_t longest(ExactText text) {
    const auto size = text.exact.value_or("").size();
    return longest_json_text(size) + size * 4;
  }
  template <class Text>
  static std::size_t longest(FileTexts<Text> texts) {
    constexpr std::size_t around = std::string_view{",null\"\""}.size();
    std::size_t sum = 4;
    for (const std::string_view text : texts.all) sum += longest(FileText{text}) + around;
    return sum;
  }

  char* write(char* at, std::nullptr_t) const { return write_raw(at, "null"); }
  char* write(char* at, std::string_view text) const {
    write_json_text(at, text);
    return at;
  }
  template <class T>
  requires std::is_integral_v<T>
  char* write(char* at, T number) const {
    if constexpr (std::is_same_v<T, bool>) {
      return number ? write_raw(at, "true") : write_raw(at, "false");
    } else {
      return write_json_integer(at, number, int64_);
    }
  }
  char* write(char* at, Thousandths number) const {
    at = write_json_integer(at, number.count / 1000, Int64::number);
    *at++ = '.';
    for (u64 unit = 100; unit > 0; unit /= 10)
      *at++ = static_cast<char>('0' + number.count / unit % 10);
    return at;
  }
  template <class T>
  char* write(char* at, const std::optional<T>& maybe) const {
    return maybe ? write(at, *maybe) : write(at, nullptr);
  }
  template <class T>
  char* write(char* at, const std::vector<T>& values) const {
    *at++ = '[';
    bool first = true;
    for (const auto& value : values) {
      if (!first) *at++ = ',';
      first = false;
      at = write(at, value);
    }
    *at++ = ']';
    return at;
  }

  template <std::size_t Size>
  static char* write_raw(char* at, const char (&text)[Size]) {
    std::memcpy(at, text, Size - 1);
    return at + (Size - 1);
  }
  template <std::size_t Size>
  static char* write_name(char* at, const char (&name)[Size]) {
    *at++ = '"';
    at = write_raw(at, name);
    return write_raw(at, "\":");
  }

  template <std::size_t Size, class T>
  char* write_member(char* at, const char (&name)[Size], const T& content) const {
    return write(write_name(at, name), content);
  }
  template <std::size_t Size>
  char* write_member(char* at, const char (&name)[Size], MaybeText text) const {
    return write_member(at, name, FileText{text.bytes.empty() ? std::string_view{} : text.bytes});
  }
  template <std::size_t Size>
  char* write_member(char* at, const char (&name)[Size], FileText text) const {
    at = write_name(at, name);
    if (!text.bytes.data()) return write(at, nullptr);
    if (write_json_text(at, text.bytes)) return at;
    at = write_raw(at, ",\"");
    at = write_raw(at, name);
    at = write_raw(at, "_bytes\":\"");
    at = core::write_hex(at, std::as_bytes(std::span{text.bytes}));
    *at++ = '"';
    return at;
  }

  template <std::size_t Size>
  char* write_member(char* at, const char (&name)[Size], ExactText text) const {
    at = write_name(at, name);
    if (!text.exact) return write(at, nullptr);
    std::string shown;
    const bool valid = core::append_utf8(shown, *text.exact);
    write_json_text(at, shown);
    if (valid) return at;
    at = write_raw(at, ",\"");
    at = write_raw(at, name);
    at = write_raw(at, "_utf16\":\"");
    const auto units = core::to_utf16_hex(*text.exact);
    at = std::copy(units.begin(), units.end(), at);
    *at++ = '"';
    return at;
  }

  template <std::size_t Size, class Text>
  char* write_member(char* at, const char (&name)[Size], FileTexts<Text> texts) const {
    at = write_name(at, name);
    *at++ = '[';
    bool exact = true;
    for (std::size_t i = 0; i < texts.all.size(); ++i) {
      if (i > 0) *at++ = ',';
      exact &= write_json_text(at, texts.all[i]);
    }
    *at++ = ']';
    if (exact) return at;
    at = write_raw(at, ",\"");
    at = write_raw(at, name);
    at = write_raw(at, "_bytes\":[");
    for (std::size_t i = 0; i < texts.all.size(); ++i) {
      if (i > 0) *at++ = ',';
      const std::string_view text = texts.all[i];
      if (core::is_valid_utf8(text)) {
        at = write(at, nullptr);
        continue;
      }
      *at++ = '"';
      at = core::write_hex(at, std::as_bytes(std::span{text}));
      *at++ = '"';
    }
    *at++ = ']';
    return at;
  }

  // Commas, and the second name of a FileText, are counted too.
  template <std::size_t Size, class T, class... Members>
  static std::size_t longest_members(const char (&)[Size], const T& content,
                                     const Members&... members) {
    return Size * 2 + 16 + longest(content) + longest_members(members...);
  }
  static std::size_t longest_members() { return 0; }
  template <std::size_t Size, class T, class... Members>
  char* write_members(char* at, const char (&name)[Size], const T& content,
                      const Members&... members) const {
    at = write_member(at, name, content);
    if constexpr (sizeof...(members) > 0) {
      *at++ = ',';
      at = write_members(at, members...);
    }
    return at;
  }

  Output& output_;
  core::TextBuffer& text_;  // the output's
  Int64 int64_;
  bool follows_ = false;  // the next value or member follows another one
};

}  // namespace coldtrace::cli
