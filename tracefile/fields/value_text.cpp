#include "coldtrace/tracefile/fields/value_text.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include <arpa/inet.h>
#include <fmt/format.h>

#include "coldtrace/core/guid.hpp"
#include "coldtrace/core/reader.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/core/utf16.hpp"

namespace coldtrace::tracefile {
namespace {

using core::ByteView;
using core::TextBuffer;

constexpr u16 family_ipv4 = 2;
constexpr u16 family_ipv6 = 23;

bool is_integer(InType in) {
  switch (in) {
    case InType::i8:
    case InType::u8:
    case InType::i16:
    case InType::u16:
    case InType::i32:
    case InType::u32:
    case InType::i64:
    case InType::u64:
      return true;
    default:
      return false;
  }
}

bool is_signed(InType in) {
  return in == InType::i8 || in == InType::i16 || in == InType::i32 || in == InType::i64;
}

bool is_unset(ByteView time) {
  return !time.empty() && core::is_zero(time);
}

// The shape that the output type asks of an integer.
ValueShape shape_of_integer(const Value& value) {
  switch (value.out) {
    case OutType::boolean:
      return ValueShape::boolean;
    case OutType::hex8:
    case OutType::hex16:
    case OutType::hex32:
    case OutType::hex64:
    case OutType::nt_status:
    case OutType::hresult:
    case OutType::code_pointer:
      return ValueShape::text;
    case OutType::ipv4:
      return value.size == 4 ? ValueShape::text : ValueShape::unsigned_integer;
    default:
      return is_signed(value.in) ? ValueShape::signed_integer : ValueShape::unsigned_integer;
  }
}

u64 low_bytes(u64 number, u8 size) {
  return size >= 8 ? number : number & ((u64{1} << size * 8U) - 1);
}

void append_ip(TextBuffer& text, int family, const void* address) {
  std::array<char, INET6_ADDRSTRLEN> buffer{};
  if (::inet_ntop(family, address, buffer.data(), buffer.size()) != nullptr)
    text.append(std::string_view{buffer.data()});
}

u16 big_endian(ByteView bytes, std::size_t at) {
  return static_cast<u16>(std::to_integer<unsigned>(bytes[at]) << 8 |
                          std::to_integer<unsigned>(bytes[at + 1]));
}

// SOCKADDR_IN and SOCKADDR_IN6; others in hex.
void append_socket_address(TextBuffer& text, ByteView bytes) {
  const auto family = core::load<u16>(bytes, 0);
  if (family == family_ipv4 && bytes.size() >= 8) {
    append_ip(text, AF_INET, bytes.data() + 4);
  } else if (family == family_ipv6 && bytes.size() >= 24) {
    text.append('[');
    append_ip(text, AF_INET6, bytes.data() + 8);
    text.append(']');
  } else {
    text.append_hex(bytes);
    return;
  }
  text.append(':');
  text.append_decimal(u64{big_endian(bytes, 2)});
}

// The day of each year on which daylight saving time begins or ends, as a SYSTEMTIME without a year
// has it; empty where it is none. Source: timezoneapi.h, TIME_ZONE_INFORMATION.
std::string yearly_day(unsigned month, unsigned weekday, unsigned day) {
  constexpr std::array<std::string_view, 12> months{
      "January", "February", "March",     "April",   "May",      "June",
      "July",    "August",   "September", "October", "November", "December"};
  constexpr std::array<std::string_view, 7> weekdays{"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                     "Thursday", "Friday", "Saturday"};
  constexpr std::array<std::string_view, 5> counts{"first", "second", "third", "fourth", "last"};
  if (month - 1 >= months.size() || weekday >= weekdays.size() || day - 1 >= counts.size())
    return {};
  return fmt::format("{} {} of {}", counts[day - 1], weekdays[weekday], months[month - 1]);
}

// "2026-03-29T", "+30827-12-31T"; empty where the calendar has no such day. Windows counts years as
// FILETIME does. Source: minwinbase.h, SYSTEMTIME.
std::string date_of(unsigned year, unsigned month, unsigned day) {
  constexpr unsigned first_year = 1601, last_year = 30'827;
  constexpr std::array<unsigned, 12> days{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (year < first_year || year > last_year || month - 1 >= days.size()) return {};
  const bool leap_day = month == 2 && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  if (day - 1 >= days[month - 1] + (leap_day ? 1 : 0)) return {};
  return fmt::format("{}{:04}-{:02}-{:02}T", year > 9999 ? "+" : "", year, month, day);
}

// The structure has no zone. What no clock and calendar say is hex.
void append_system_time(TextBuffer& text, const Value& value) {
  const auto in = core::Fields<16>::at(value.bytes, 0);
  if (!in) return;
  const unsigned year = in->get<u16, 0>(), month = in->get<u16, 2>(), weekday = in->get<u16, 4>(),
                 day = in->get<u16, 6>(), hour = in->get<u16, 8>(), minute = in->get<u16, 10>(),
                 second = in->get<u16, 12>(), millisecond = in->get<u16, 14>();
  const auto yearly = year == 0 ? yearly_day(month, weekday, day) : std::string{};
  const auto date = yearly.empty() ? date_of(year, month, day) : yearly + ' ';
  if (date.empty() || hour > 23 || minute > 59 || second > 59 || millisecond > 999) {
    text.append_hex(value.bytes);
    return;
  }
  text.append(fmt::format("{}{:02}:{:02}:{:02}.{:03}", date, hour, minute, second, millisecond));
  if (value.out == OutType::date_time_utc) text.append('Z');
}

bool is_date(u64 file_time) {
  return file_time <= static_cast<u64>(std::numeric_limits<i64>::max());
}

}  // namespace

ValueShape shape_of(const Value& value, bool clock_known) {
  if (value.in == InType::session_time && !clock_known) return ValueShape::signed_integer;
  if (const auto unit = text_unit(value.in, value.out); unit != 0)
    return unit == 2 ? ValueShape::utf16_text : ValueShape::ansi_text;
  if (is_integer(value.in)) return shape_of_integer(value);
  switch (value.in) {
    case InType::null:
      return ValueShape::absent;
    case InType::f32:
    case InType::f64:
      return ValueShape::floating;
    case InType::bool32:
    case InType::bool8:
      return ValueShape::boolean;
    case InType::size:
      return ValueShape::unsigned_integer;
    case InType::file_time:
    case InType::session_time:
      return value.number == 0 ? ValueShape::absent : ValueShape::text;
    case InType::system_time:
      return is_unset(value.bytes) ? ValueShape::absent : ValueShape::text;
    default:
      return ValueShape::text;
  }
}

u64 shown_number(const Value& value) {
  const auto number = low_bytes(value.number, value.size);
  if (value.out != OutType::port || value.size != 2) return number;
  return (number & 0xff) << 8 | number >> 8;
}

std::optional<u64> hex_number(const Value& value) {
  switch (value.in) {
    case InType::guid:
    case InType::sid:
    case InType::kernel_sid:
    case InType::session_time:
    case InType::system_time:
    case InType::binary:
    case InType::counted_binary:
    case InType::hex_dump:
      return std::nullopt;
    case InType::file_time:
      return is_date(value.number) ? std::nullopt : std::optional{value.number};
    default:
      if (value.out == OutType::ipv4) return std::nullopt;
      return low_bytes(value.number, value.size);
  }
}

double shown_floating(const Value& value) {
  return value.in == InType::f32 ? double{std::bit_cast<float>(static_cast<u32>(value.number))}
                                 : std::bit_cast<double>(value.number);
}

std::string ValueText::plain(const Value& value) {
  if (value.out == OutType::encrypted) return "encrypted";
  switch (shape_of(value, clock_.known())) {
    case ValueShape::absent:
      return {};
    case ValueShape::unsigned_integer:
      return fmt::format("{}", shown_number(value));
    case ValueShape::signed_integer:
      return fmt::format("{}", static_cast<i64>(value.number));
    case ValueShape::floating:
      return fmt::format("{}", shown_floating(value));
    case ValueShape::boolean:
      return value.number != 0 ? "true" : "false";
    case ValueShape::utf16_text:
      return core::decode_utf16(value.bytes).utf8;
    case ValueShape::ansi_text:
      return core::to_valid_utf8(core::to_chars(value.bytes));
    case ValueShape::text:
      break;
  }
  TextBuffer text;
  append(text, value);
  return std::string{text.view()};
}

void ValueText::append(TextBuffer& text, const Value& value) {
  switch (value.in) {
    case InType::guid:
      text.append(core::to_string(core::to_guid(value.bytes)));
      return;
    case InType::sid:
    case InType::kernel_sid:
      append_sid(text, value.bytes);
      return;
    case InType::file_time:
      append_time(
          text, is_date(value.number) ? std::optional{core::FileTime{value.number}} : std::nullopt,
          value.number);
      return;
    case InType::session_time:
      append_time(text,
                  (other_clock_ == nullptr ? clock_ : other_clock_->from)
                      .find_file_time(static_cast<i64>(value.number)),
                  value.number);
      return;
    case InType::system_time:
      append_system_time(text, value);
      return;
    case InType::binary:
    case InType::counted_binary:
    case InType::hex_dump:
      if (value.out == OutType::ipv6 && value.bytes.size() == 16)
        append_ip(text, AF_INET6, value.bytes.data());
      else if (value.out == OutType::socket_address)
        append_socket_address(text, value.bytes);
      else
        text.append_hex(value.bytes);
      return;
    default:
      break;
  }
  const auto number = low_bytes(value.number, value.size);
  if (value.out == OutType::ipv4) {
    const auto address = static_cast<u32>(number);
    append_ip(text, AF_INET, &address);
  } else {
    text.append_hex(number);
  }
}

void ValueText::append_time(TextBuffer& text, std::optional<core::FileTime> time, u64 number) {
  if (time)
    text.append(times_.format(*time));
  else
    text.append_hex(number);
}

void append_sid(TextBuffer& text, ByteView sid) {
  core::Reader in{sid, "SID", 0};
  text.append("S-");
  text.append_decimal(u64{in.read_u8("Revision")});
  const auto count = in.read_u8("SubAuthorityCount");
  u64 authority = 0;
  for (const auto byte : in.take(6, "IdentifierAuthority"))
    authority = authority << 8 | std::to_integer<u64>(byte);
  text.append('-');
  text.append_decimal(authority);
  for (u8 i = 0; i < count && in.remaining() >= 4; ++i) {
    text.append('-');
    text.append_decimal(u64{in.read_u32("SubAuthority")});
  }
}

std::string find_mapped_names(const ValueMap& map, const Value& value) {
  // Entries of ETW have 32 bits, signed numbers are extended to 64.
  const auto stored = low_bytes(value.number, value.size);
  if (map.bits) return find_mapped_names(map, stored);
  auto names = find_mapped_names(map, value.number);
  return names.empty() ? find_mapped_names(map, stored) : names;
}

std::string find_mapped_names(const ValueMap& map, u64 number) {
  if (!map.bits) {
    const auto found = std::lower_bound(
        map.entries.begin(), map.entries.end(), number,
        [](const ValueMap::Entry& entry, u64 value) { return entry.value < value; });
    return found != map.entries.end() && found->value == number ? found->text : std::string{};
  }
  std::string names;
  u64 rest = number;
  for (const auto& entry : map.entries) {
    const auto mask = entry.mask != 0 ? entry.mask : entry.value;
    if (mask == 0 ? number != 0 : (number & mask) != entry.value) continue;
    rest &= ~mask;
    if (!names.empty()) names += '|';
    names += entry.text;
  }
  if (!names.empty() && rest != 0) names += fmt::format("|{:#x}", rest);
  return names;
}

}  // namespace coldtrace::tracefile
