#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "cli/output/text.hpp"
#include "coldtrace/core/integers.hpp"

namespace coldtrace::cli {

// A piece of an HTML page that is being written. Markup and text are added by different functions,
// so that a name from a file is never markup.
class Html {
 public:
  // The program's own.
  Html& markup(std::string_view text) {
    text_ += text;
    return *this;
  }
  // From any file: what would be markup, what is invisible and what is not UTF-8 is escaped.
  Html& text(std::string_view text);
  // Lines that a command prints, in which names are already printable.
  Html& lines(std::string_view text);
  // Adds an element of one line with text: element("p", "...").
  Html& element(std::string_view tag, std::string_view content);

  // A part of the page, with its heading.
  Html& begin_section(std::string_view id, std::string_view title);

  bool empty() const { return text_.empty(); }
  const std::string& str() const { return text_; }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

// Figures as people read them. Units of 100 ns: "0.4 µs", "12.3 ms", "1.234 s".
std::string short_time(i64 units);
// "12.3 MiB"
std::string short_bytes(u64 bytes);
// "34.2 %"; "-" if the whole is nothing.
std::string share_text(i64 part, i64 whole);

}  // namespace coldtrace::cli
