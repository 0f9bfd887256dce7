#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "coldtrace/core/file_time.hpp"
#include "coldtrace/core/guid.hpp"

namespace coldtrace::where {

// A number of an event or of an expression, without loss: a signed or unsigned 64-bit integer, or a
// floating-point number.
struct Number {
  bool floating = false;
  bool negative = false;
  u64 magnitude = 0;  // if an integer
  double real = 0;    // if floating

  [[nodiscard]] static Number of(u64 number) { return {.magnitude = number}; }
  // Without loss, even for the most negative number.
  [[nodiscard]] static Number of(i64 number);
  [[nodiscard]] static Number of(double number) { return {.floating = true, .real = number}; }

  // As a 64-bit field holds it; nothing if floating.
  [[nodiscard]] std::optional<u64> bits() const;
};

// Compares by value, whatever the types. NaN is unordered, even to itself.
[[nodiscard]] std::partial_ordering compare(const Number& a, const Number& b);

// What an expression compares with.
struct Literal {
  enum class Type : u8 {
    number,
    text,      // has a `guid` or `time` too if it reads as one
    guid,      // only `guid`
    time,      // only `time`
    duration,  // since the start of the session: `number` in units of 100 ns
    boolean,
  };
  Type type = Type::number;
  Number number;
  std::string text;
  std::optional<core::Guid> guid;
  std::optional<core::FileTime> time;
  bool boolean = false;
};

// "12", "-0x1f", "1.5e3", "4KiB" (B, KiB, MiB, GiB, TiB), "1.5ms" (ns, us, ms, s, min, h, d), or
// nothing. Integers have up to 64 bits.
[[nodiscard]] std::optional<Literal> parse_number_literal(std::string_view text);

// A GUID with or without braces, or of 32 digits without dashes, in either case.
[[nodiscard]] std::optional<core::Guid> parse_any_guid(std::string_view text);

// All that a text, without its quotes, can be read as.
[[nodiscard]] Literal text_literal(std::string text);

// What a member of an event, or one value of a field, can be compared as.
struct Subject {
  std::optional<Number> number;
  std::optional<bool> boolean;
  std::optional<core::FileTime> time;
  std::optional<core::Guid> guid;
  std::optional<std::string_view> text;  // as a line shows it; absent for numbers
  std::string_view name;                 // what the value stands for, or empty
};

}  // namespace coldtrace::where
