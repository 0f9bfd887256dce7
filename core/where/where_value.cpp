#include "coldtrace/where/where_value.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace coldtrace::where {
namespace {

struct Unit {
  std::string_view name;
  bool duration;
  u64 factor;   // bytes, or units of 100 ns
  u64 divisor;  // of nanoseconds
};
constexpr std::array units = {
    Unit{"", false, 1, 1},
    Unit{"B", false, 1, 1},
    Unit{"KiB", false, u64{1} << 10, 1},
    Unit{"MiB", false, u64{1} << 20, 1},
    Unit{"GiB", false, u64{1} << 30, 1},
    Unit{"TiB", false, u64{1} << 40, 1},
    Unit{"ns", true, 1, 100},
    Unit{"us", true, 10, 1},
    Unit{"ms", true, 10'000, 1},
    Unit{"s", true, 10'000'000, 1},
    Unit{"min", true, 600'000'000, 1},
    Unit{"h", true, u64{36'000'000'000}, 1},
    Unit{"d", true, u64{864'000'000'000}, 1},
};

constexpr u64 least_signed = u64{1} << 63;

long double exact(const Number& number) {
  // The significand of long double has 64 bits or more.
  static_assert(std::numeric_limits<long double>::digits >= 64);
  if (number.floating) return static_cast<long double>(number.real);
  const auto magnitude = static_cast<long double>(number.magnitude);
  return number.negative ? -magnitude : magnitude;
}

std::optional<Number> parse_integer(std::string_view digits, bool negative, const Unit& unit) {
  const bool hex = digits.starts_with("0x") || digits.starts_with("0X");
  if (hex) digits.remove_prefix(2);
  u64 magnitude = 0;
  const auto* const end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, magnitude, hex ? 16 : 10);
  if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
  if (magnitude > std::numeric_limits<u64>::max() / unit.factor) return std::nullopt;
  magnitude *= unit.factor;
  if (magnitude % unit.divisor != 0) {
    const auto real = static_cast<double>(magnitude) / static_cast<double>(unit.divisor);
    return Number::of(negative ? -real : real);
  }
  magnitude /= unit.divisor;
  if (negative && magnitude > least_signed) return std::nullopt;
  return Number{.negative = negative && magnitude != 0, .magnitude = magnitude};
}

std::optional<Number> parse_floating(std::string_view digits, bool negative, const Unit& unit) {
  double real = 0;
  const auto* const end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, real);
  if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
  real = real * static_cast<double>(unit.factor) / static_cast<double>(unit.divisor);
  if (!std::isfinite(real)) return std::nullopt;
  return Number::of(negative ? -real : real);
}

}  // namespace

Number Number::of(i64 number) {
  return {.negative = number < 0,
          .magnitude = number < 0 ? u64{0} - static_cast<u64>(number) : static_cast<u64>(number)};
}

std::optional<u64> Number::bits() const {
  if (floating) return std::nullopt;
  return negative ? u64{0} - magnitude : magnitude;
}

std::partial_ordering compare(const Number& a, const Number& b) {
  return exact(a) <=> exact(b);
}

std::optional<Literal> parse_number_literal(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  for (const auto& unit : units) {
    if (!text.ends_with(unit.name)) continue;
    if (hex && !unit.name.empty()) continue;  // 0x1B, 0x5d
    const auto digits = text.substr(0, text.size() - unit.name.size());
    const bool floating = !hex && digits.find_first_of(".eE") != std::string_view::npos;
    const auto number =
        floating ? parse_floating(digits, negative, unit) : parse_integer(digits, negative, unit);
    if (!number) continue;
    return Literal{.type = unit.duration ? Literal::Type::duration : Literal::Type::number,
                   .number = *number};
  }
  return std::nullopt;
}

std::optional<core::Guid> parse_any_guid(std::string_view text) {
  if (text.size() > 2 && text.front() == '{' && text.back() == '}')
    text = text.substr(1, text.size() - 2);
  if (text.size() != 32) return core::parse_guid(text);
  std::string dashed;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i == 8 || i == 12 || i == 16 || i == 20) dashed += '-';
    dashed += text[i];
  }
  return core::parse_guid(dashed);
}

Literal text_literal(std::string text) {
  Literal literal{.type = Literal::Type::text};
  literal.guid = parse_any_guid(text);
  literal.time = core::parse_file_time(text);
  literal.text = std::move(text);
  return literal;
}

}  // namespace coldtrace::where
