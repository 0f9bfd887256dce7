#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "coldtrace/core/result.hpp"
#include "coldtrace/core/text_error.hpp"

// What the builders of our text files do with their tokens, which are views of the text.
namespace coldtrace::core {

// Both count from 1, columns in bytes.
struct TextPlace {
  u32 line = 0;
  u32 column = 0;
};

// Says where tokens are, in the order of the text: what lies before one is read once.
class TokenPlaces {
 public:
  explicit TokenPlaces(std::string_view text) : counted_{text.data()} {}
  explicit TokenPlaces(std::string&&) = delete;  // the text outlives it

  // Of a token that does not lie before the last one that was asked for.
  TextPlace of(std::string_view token);

 private:
  const char* counted_;  // line_ and line_start_ are those of this place
  const char* line_start_ = counted_;
  u32 line_ = 1;
};

// What a builder may throw as its Error to end a parse: grammar::parse catches it.
struct TokenError {
  const char* where;
  std::string message;
};

// The text of a token that may stand in quotes, or a sentence that names it as `what`, where it is
// empty, longer than `longest` bytes, no UTF-8, or has a control character.
[[nodiscard]] Expected<std::string, std::string> unquote_token(std::string_view token,
                                                               std::string_view what,
                                                               std::size_t longest);

// Why no grammar need look at a file: it is larger than `largest` bytes, or UTF-16.
[[nodiscard]] std::optional<TextError> refuse_text(std::string_view text, std::size_t largest);

}  // namespace coldtrace::core
