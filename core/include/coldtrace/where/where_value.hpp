#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "coldtrace/core/file_time.hpp"
#include "coldtrace/core/guid.hpp"

namespace coldtrace::where {

// A number of an event or of an expression, without loss: an integer of 64 bits with or without
// sign, or a floating one.
struct Number {
  bool floating = false;
  bool negative = false;
  u64 magnitude = 0;  // of integers
  double real = 0;    // of floating ones

  [[nodiscard]] static Number of(u64 number) { return {.magnitude = number}; }
  // Without loss, of the most negative one too.
  [[nodiscard]] static Number of(i64 number);
  [[nodiscard]] static Number of(double number) { return {.floating = true, .real = number}; }

  // As a field of 64 bits has it; nothing of floating ones.
  [[nodiscard]] std::optional<u64> bits() const;
};

// By value, whatever the types; NaN is unordered, also to itself.
[[nodiscard]] std::partial_ordering compare(const Number& a, const Number& b);

// Something that an expression compares with.
struct Literal {
  enum class Type : u8 {
    number,
    text,      // `guid` and `time` too where it reads as one
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
// nothing. Integers take 64 bits.
[[nodiscard]] std::optional<Literal> parse_number_literal(std::string_view text);

// A GUID with or without braces, or of 32 digits without dashes, in any case.
[[nodiscard]] std::optional<core::Guid> parse_any_guid(std::string_view text);

// What a text without its quotes can be.
[[nodiscard]] Literal text_literal(std::string text);

// What a member of an event, or one value of a field, can be compared as.
struct Subject {
  std::optional<Number> number;
  std::optional<bool> boolean;
  std::optional<core::FileTime> time;
  std::optional<core::Guid> guid;
  std::optional<std::string_view> text;  // as a line shows it; absent of numbers
  std::string_view name;                 // that the value stands for, or empty
};

}  // namespace coldtrace::where
