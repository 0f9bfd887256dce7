#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "cli/output/output.hpp"
#include "coldtrace/core/printable.hpp"

namespace coldtrace::cli {

using core::printable;

// One CSV field according to RFC 4180, in UTF-8 whatever the bytes are, quoted if necessary.
std::string csv_field(std::string_view bytes);

// For text between tags and inside quoted attributes.
std::string xml_text(std::string_view text);

// A file's name for people: in quotes if it is empty, which is not the same as none.
inline std::string name_text(std::string_view name) {
  return name.empty() ? "\"\"" : printable(name);
}

// A CSV field with a number; empty if it is unknown.
template <class T>
std::string cell(const std::optional<T>& number) {
  return number ? fmt::format("{}", *number) : std::string{};
}

// "1,234,567"
std::string grouped(u64 number);
// "1 process", "2,000 processes"
std::string counted(u64 count, std::string_view one, std::string_view several);
// "1.2 GiB", "17 bytes"
std::string size_text(u64 bytes);

// Formats to the output.
template <class... Args>
void print(Output& output, fmt::format_string<Args...> text, Args&&... args) {
  output.write(fmt::format(text, std::forward<Args>(args)...));
}

}  // namespace coldtrace::cli
