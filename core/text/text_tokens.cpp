#include "coldtrace/core/text_tokens.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "coldtrace/core/text.hpp"

namespace coldtrace::core {

TextPlace TokenPlaces::of(std::string_view token) {
  for (; counted_ != token.data(); ++counted_)
    if (*counted_ == '\n') {
      ++line_;
      line_start_ = counted_ + 1;
    }
  return {line_, static_cast<u32>(token.data() - line_start_) + 1};
}

Expected<std::string, std::string> unquote_token(std::string_view token, std::string_view what,
                                                 std::size_t longest) {
  const bool quoted = token.size() >= 2 && token.front() == '"' && token.back() == '"';
  const auto text = quoted ? token.substr(1, token.size() - 2) : token;
  if (text.empty()) return fail(fmt::format("the {} is empty", what));
  if (text.size() > longest)
    return fail(fmt::format("the {} is longer than {} bytes", what, longest));
  if (std::ranges::any_of(text, is_control))
    return fail(fmt::format("the {} contains a control character", what));
  if (!is_valid_utf8(text)) return fail(fmt::format("the {} is not UTF-8", what));
  return std::string{text};
}

std::optional<TextError> refuse_text(std::string_view text, std::size_t largest) {
  if (text.size() > largest)
    return TextError{1, 1, fmt::format("the file is larger than {} bytes", largest)};
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
    return TextError{1, 1, "the file is UTF-16: save it as UTF-8"};
  return std::nullopt;
}

}  // namespace coldtrace::core
