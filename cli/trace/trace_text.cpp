#include "cli/trace/trace_text.hpp"

#include <algorithm>
#include <array>

namespace coldtrace::cli {

using tracefile::EventClass;

void append_guid(core::TextBuffer& text, core::ByteView bytes) {
  constexpr std::size_t size = 36;
  constexpr char digits[] = "0123456789abcdef";
  // Where in the text each byte has its two digits; the first three parts are little-endian.
  constexpr std::array<u8, 16> places = {6, 4, 2, 0, 11, 9, 16, 14, 19, 21, 24, 26, 28, 30, 32, 34};
  char* const at = text.reserve(size);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto byte = std::to_integer<unsigned>(bytes[i]);
    at[places[i]] = digits[byte >> 4];
    at[places[i] + 1] = digits[byte & 0xfU];
  }
  for (const auto dash : {8, 13, 18, 23}) at[dash] = '-';
  text.commit(size);
}

bool is_zero(core::ByteView bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

bool has_id(EventClass event_class) {
  return event_class == EventClass::manifest || event_class == EventClass::message ||
         event_class == EventClass::driver;
}

bool has_opcode(const tracefile::Event& event) {
  return event.event_class == EventClass::classic || event.event_class == EventClass::manifest;
}

bool has_version(EventClass event_class) {
  return event_class == EventClass::classic || event_class == EventClass::manifest ||
         event_class == EventClass::driver;
}

bool has_level(const tracefile::Event& event) {
  return !event.kernel_group && has_opcode(event);
}

std::optional<u16> number_of(const tracefile::EventKind& kind) {
  const bool numbered = has_id(kind.event_class) || kind.event_class == EventClass::classic;
  return numbered ? std::optional{kind.id} : std::nullopt;
}

std::optional<u8> version_of(const tracefile::EventKind& kind) {
  return has_version(kind.event_class) ? std::optional{kind.version} : std::nullopt;
}

}  // namespace coldtrace::cli
