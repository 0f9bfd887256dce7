#include "coldtrace/ntfs/structures/zone_identifier.hpp"

#include <algorithm>
#include <charconv>

#include "coldtrace/core/ascii.hpp"
#include "coldtrace/core/marked_text.hpp"
#include "coldtrace/core/text.hpp"

namespace coldtrace::ntfs {
namespace {

std::string_view trim(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

void set_value(ZoneIdentifier& found, std::string_view key, std::string_view value) {
  if (core::equal_ignoring_case(key, "zoneid") && !found.zone) {
    u32 zone = 0;
    const auto* const end = value.data() + value.size();
    const auto [behind, error] = std::from_chars(value.data(), end, zone);
    if (error == std::errc{} && behind == end) found.zone = zone;
  } else if (core::equal_ignoring_case(key, "referrerurl") && !found.referrer_url) {
    found.referrer_url = value;
  } else if (core::equal_ignoring_case(key, "hosturl") && !found.host_url) {
    found.host_url = value;
  }
}

}  // namespace

bool is_zone_identifier(StoredText name) {
  constexpr std::string_view wanted = "zone.identifier";
  if (name.units() != wanted.size()) return false;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (name.unit(i) >= 0x80 || core::to_lower(static_cast<char>(name.unit(i))) != wanted[i])
      return false;
  return true;
}

ZoneIdentifier read_zone_identifier(core::ByteView value) {
  ZoneIdentifier found;
  found.text = core::to_valid_utf8(core::decode_marked_text(value).utf8);
  bool inside = false;
  for (std::string_view rest = found.text; !rest.empty();) {
    const auto end = std::min(rest.find('\n'), rest.size());
    const auto line = trim(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.starts_with('[')) {
      inside = core::equal_ignoring_case(line, "[zonetransfer]");
    } else if (const auto equals = line.find('='); inside && equals != std::string_view::npos) {
      set_value(found, trim(line.substr(0, equals)), trim(line.substr(equals + 1)));
    }
  }
  return found;
}

}  // namespace coldtrace::ntfs
