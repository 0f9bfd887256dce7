#include "coldtrace/tracefile/messages/trace_message.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "coldtrace/core/text.hpp"
#include "coldtrace/tracefile/names/status_names.hpp"
#include "tracefile/messages/ndis_codes.hpp"

namespace coldtrace::tracefile {
namespace {

// Widths and precisions beyond it are those of damaged formats.
constexpr unsigned widest = 512;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

unsigned read_number(std::string_view text, std::size_t& at) {
  unsigned number = 0;
  for (; at < text.size() && is_digit(text[at]); ++at)
    number = std::min(widest, number * 10 + static_cast<unsigned>(text[at] - '0'));
  return number;
}

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xc0U) == 0x80;
}

std::size_t count_characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !is_continuation(c); }));
}

// The first characters of valid UTF-8.
std::string_view first_characters(std::string_view text, std::size_t count) {
  std::size_t at = 0;
  for (; at < text.size(); ++at)
    if (!is_continuation(text[at]) && count-- == 0) break;
  return text.substr(0, at);
}

std::string pad(std::string text, const Conversion& conversion) {
  const auto length = count_characters(text);
  if (length >= conversion.width) return text;
  const std::string blanks(conversion.width - length, ' ');
  return conversion.left ? text + blanks : blanks + text;
}

std::string format_text(std::string text, const Conversion& conversion) {
  if (conversion.precision >= 0)
    text = first_characters(text, static_cast<std::size_t>(conversion.precision));
  return pad(std::move(text), conversion);
}

std::string digits_of(u64 number, char type) {
  switch (type) {
    case 'x':
      return fmt::format("{:x}", number);
    case 'X':
      return fmt::format("{:X}", number);
    case 'o':
      return fmt::format("{:o}", number);
    default:
      return fmt::format("{}", number);
  }
}

u64 low_bits(u64 number, unsigned bits) {
  return bits >= 64 ? number : number & ((u64{1} << bits) - 1);
}

std::string prefix_of(const Conversion& conversion, u64 magnitude) {
  if (!conversion.prefix || magnitude == 0) return {};
  return conversion.type == 'x'   ? "0x"
         : conversion.type == 'X' ? "0X"
         : conversion.type == 'o' ? "0"
                                  : "";
}

std::string format_number(const Value& value, const Conversion& conversion) {
  const unsigned bits = std::min(conversion.bits, unsigned{value.size} * 8);
  u64 magnitude = low_bits(value.number, bits);
  std::string sign;
  if (conversion.type == 'd' || conversion.type == 'i') {
    const bool negative = bits > 0 && (magnitude >> (bits - 1) & 1U) != 0;
    if (negative) magnitude = low_bits(~magnitude + 1, bits);
    sign = negative ? "-" : conversion.sign ? "+" : conversion.blank ? " " : "";
  }
  sign += prefix_of(conversion, magnitude);
  auto digits = digits_of(magnitude, conversion.type);
  std::size_t least = 0;
  if (conversion.precision >= 0)
    least = static_cast<std::size_t>(conversion.precision);
  else if (conversion.zeros && !conversion.left && conversion.width > sign.size())
    least = conversion.width - sign.size();
  if (digits.size() < least) digits.insert(0, least - digits.size(), '0');
  return pad(sign + digits, conversion);
}

std::string format_character(const Value& value, const Conversion& conversion) {
  const char c = static_cast<char>(value.number & 0x7f);
  const bool shown = value.number >= 0x20 && value.number < 0x7f;
  return pad(shown ? std::string(1, c) : fmt::format("\\x{:02x}", value.number & 0xff), conversion);
}

std::string format_floating(const Value& value, const Conversion& conversion) {
  const double number = shown_floating(value);
  const int precision = conversion.precision < 0 ? 6 : conversion.precision;
  const auto made = [&] {
    switch (conversion.type) {
      case 'f':
      case 'F':
        return fmt::format("{:.{}f}", number, precision);
      case 'e':
        return fmt::format("{:.{}e}", number, precision);
      case 'E':
        return fmt::format("{:.{}E}", number, precision);
      case 'G':
        return fmt::format("{:.{}G}", number, precision);
      default:
        return fmt::format("{:.{}g}", number, precision);
    }
  };
  return pad(made(), conversion);
}

std::string with_name(std::string code, const std::string& name) {
  return name.empty() ? code : fmt::format("{}({})", code, name);
}

// An HRESULT that wraps a Win32 code has the name of that.
std::string status_name(const Value& value, u64 number) {
  constexpr u64 of_win32 = 0x80070000;
  if (value.out == OutType::hresult && (number & 0xffff0000) == of_win32)
    return std::string{find_win32_error(static_cast<u32>(number & 0xffff))};
  return find_status_name(value);
}

std::string format_duration(i64 ticks) {
  const u64 magnitude = ticks < 0 ? ~static_cast<u64>(ticks) + 1 : static_cast<u64>(ticks);
  const u64 milliseconds = magnitude / 10'000 + (magnitude % 10'000 >= 5'000 ? 1 : 0);
  return fmt::format("{}{}.{:03}s", ticks < 0 ? "-" : "", milliseconds / 1000, milliseconds % 1000);
}

std::string format_mac(core::ByteView bytes) {
  std::string text;
  for (const auto byte : bytes)
    text += fmt::format("{}{:02x}", text.empty() ? "" : "-", std::to_integer<unsigned>(byte));
  return text;
}

std::string join_bits(const ValueMap& map, u64 number, std::string_view between, u64& rest) {
  std::string names;
  rest = number;
  for (const auto& entry : map.entries) {
    if (entry.value == 0 || (number & entry.value) != entry.value) continue;
    rest &= ~entry.value;
    if (!names.empty()) names += between;
    names += entry.text;
  }
  return names;
}

std::string format_named(const FieldSchema& field, u64 number, MessageItem item) {
  static const ValueMap none;
  const auto& map = field.map ? *field.map : none;
  u64 rest = 0;
  switch (item) {
    case MessageItem::list:
      return with_name(fmt::format("0x{:08x}", number), find_mapped_names(map, number));
    case MessageItem::set: {
      const auto names = join_bits(map, number, ",", rest);
      if (rest == 0) return fmt::format("[{}]", names);
      return fmt::format("[{}{}{:#x}]", names, names.empty() ? "" : ",", rest);
    }
    case MessageItem::flags: {
      const auto names = join_bits(map, number, " | ", rest);
      return names.empty() ? fmt::format("{:#x}", number) : fmt::format("{}({:#x})", names, number);
    }
    default: {
      const auto name = find_mapped_names(map, number);
      return name.empty() ? fmt::format("{:#x}", number) : name;
    }
  }
}

std::string blanked(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return text;
}

bool is_number_type(char type) {
  return std::string_view{"diuxXo"}.find(type) != std::string_view::npos;
}

}  // namespace

Conversion Conversion::parse(std::string_view text) {
  Conversion conversion;
  std::size_t at = 0;
  for (; at < text.size() && std::string_view{"-+ #0"}.find(text[at]) != std::string_view::npos;
       ++at) {
    conversion.left |= text[at] == '-';
    conversion.sign |= text[at] == '+';
    conversion.blank |= text[at] == ' ';
    conversion.prefix |= text[at] == '#';
    conversion.zeros |= text[at] == '0';
  }
  conversion.width = read_number(text, at);
  if (at < text.size() && text[at] == '.')
    conversion.precision = static_cast<int>(read_number(text, ++at));
  auto length = text.substr(std::min(at, text.size()));
  if (length.empty()) return conversion;
  conversion.type = length.back();
  length.remove_suffix(1);
  if (length == "h") conversion.bits = 16;
  if (length == "hh") conversion.bits = 8;
  return conversion;
}

std::string format_argument(const FieldSchema& field, const Value& value, MessageItem item,
                            const Conversion& conversion, ValueText& texts) {
  const u64 number = low_bits(value.number, unsigned{value.size} * 8);
  const bool by_number = value.size > 0 && is_number_type(conversion.type);
  switch (item) {
    case MessageItem::number: {
      if (conversion.type == 'c' || conversion.type == 'C')
        return format_character(value, conversion);
      auto shown = conversion;
      if (conversion.type == 'p') return pad(fmt::format("{:0{}X}", number, value.size * 2), shown);
      if (!by_number)
        shown.type = value.in == InType::i8 || value.in == InType::i16 || value.in == InType::i32 ||
                             value.in == InType::i64
                         ? 'd'
                         : 'u';
      return format_number(value, shown);
    }
    case MessageItem::floating:
      return format_floating(value, conversion);
    case MessageItem::pointer:
      if (by_number) return format_number(value, conversion);
      return pad(fmt::format("{:0{}X}", number, value.size * 2), conversion);
    case MessageItem::blanked_text:
      return format_text(blanked(texts.plain(value)), conversion);
    case MessageItem::plain:
      break;
    default:
      if (by_number) return format_number(value, conversion);
      break;
  }
  switch (item) {
    case MessageItem::status:
      return pad(with_name(fmt::format("0x{:08x}", number), status_name(value, number)),
                 conversion);
    case MessageItem::error:
      return pad(with_name(fmt::format("{}", number), find_status_name(value)), conversion);
    case MessageItem::ndis_status:
      return pad(with_name(fmt::format("0x{:08x}", number),
                           std::string{find_ndis_status(static_cast<u32>(number))}),
                 conversion);
    case MessageItem::ndis_oid:
      return pad(with_name(fmt::format("0x{:08x}", number),
                           std::string{find_ndis_oid(static_cast<u32>(number))}),
                 conversion);
    case MessageItem::duration:
      return pad(format_duration(static_cast<i64>(value.number)), conversion);
    case MessageItem::mac:
      return pad(format_mac(value.bytes), conversion);
    case MessageItem::plain:
      return format_text(texts.plain(value), conversion);
    default:
      return format_text(format_named(field, number, item), conversion);
  }
}

}  // namespace coldtrace::tracefile
