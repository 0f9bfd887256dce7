#pragma once

#include <memory>
#include <string_view>

#include <rapidjson/fwd.h>

namespace coldtrace::cli {

// A JSON text and its value. Another one may be read into the same memory: there are millions of
// lines. Where memory is short, std::bad_alloc is thrown, which RapidJSON does not do by itself.
// Texts of a value lie in the memory of its text: a copy of it that is to outlive both copies them
// too (copyConstStrings). Benchmark: "text" of `compare-trace`.
class ParsedJson {
 public:
  ParsedJson();
  explicit ParsedJson(std::string_view text) : ParsedJson{} { read(text); }
  ParsedJson(ParsedJson&&) noexcept;
  ParsedJson& operator=(ParsedJson&&) noexcept;
  ~ParsedJson();

  // The value of a text up to its end, or to a NUL in it, valid until the next call; null if it is
  // not JSON. A byte order mark is passed over.
  rapidjson::Value& read(std::string_view text);
  // The one read last.
  const rapidjson::Value& value() const;

 private:
  struct Memory;

  std::unique_ptr<Memory> memory_;
};

}  // namespace coldtrace::cli
