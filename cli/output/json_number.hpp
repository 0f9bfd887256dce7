#pragma once

#include <type_traits>

#include "coldtrace/core/text_buffer.hpp"

namespace coldtrace::cli {

// How to write integers above 2^53, which JavaScript rounds.
enum class Int64 : u8 { number, string };
constexpr u64 largest_exact_integer = u64{1} << 53;

// Writes an integer to `at`, where there must be room for longest_json_integer characters; returns
// its end.
constexpr std::size_t longest_json_integer = core::longest_decimal + 2;
template <class Number>
char* write_json_integer(char* at, Number number, Int64 int64) {
  using Wide = std::conditional_t<std::is_signed_v<Number>, i64, u64>;
  const bool negative = std::is_signed_v<Number> && number < 0;
  const u64 magnitude = negative ? u64{0} - static_cast<u64>(number) : static_cast<u64>(number);
  const bool quoted = int64 == Int64::string && magnitude > largest_exact_integer;
  if (quoted) *at++ = '"';
  at = core::write_decimal(at, Wide{number});
  if (quoted) *at++ = '"';
  return at;
}

template <class Number>
void append_json_integer(core::TextBuffer& json, Number number, Int64 int64) {
  char* const start = json.reserve(longest_json_integer);
  json.commit(static_cast<std::size_t>(write_json_integer(start, number, int64) - start));
}

}  // namespace coldtrace::cli
