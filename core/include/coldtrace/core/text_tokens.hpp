#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "coldtrace/core/result.hpp"
#include "coldtrace/core/text_error.hpp"

// What the builders for our text files do with their tokens, which are views of the text.
namespace coldtrace::core {

// Both count from 1, columns in bytes.
struct TextPlace {
  u32 line = 0;
  u32 column = 0;
};

// Finds the line and column of tokens in text order: the text is read once for all of them.
class TokenPlaces {
 public:
  explicit TokenPlaces(std::string_view text) : counted_{text.data()} {}
  explicit TokenPlaces(std::string&&) = delete;  // the text outlives it

  // For a token that does not lie before the last one asked for.
  TextPlace of(std::string_view token);

 private:
  const char* counted_;  // the place that line_ and line_start_ belong to
  const char* line_start_ = counted_;
  u32 line_ = 1;
};

// What a builder may throw as its Error to end parsing: grammar::parse catches it.
struct TokenError {
  const char* where;
  std::string message;
};

// The text of a token that may be quoted. If it is empty, longer than `longest` bytes, not UTF-8 or
// has a control character, a sentence that says so and calls it `what`.
[[nodiscard]] Expected<std::string, std::string> unquote_token(std::string_view token,
                                                               std::string_view what,
                                                               std::size_t longest);

// Why a text is refused before any grammar sees it: it is larger than `largest` bytes, or UTF-16.
[[nodiscard]] std::optional<TextError> refuse_text(std::string_view text, std::size_t largest);

}  // namespace coldtrace::core
