#include "tracefile/providers/string_event.hpp"

#include "coldtrace/core/reader.hpp"
#include "tracefile/events/event_header_flags.hpp"

namespace coldtrace::tracefile {
namespace {

// An address of eight bytes can look like three characters, but not like letters.
constexpr std::size_t fewest_letters = 2;
constexpr std::size_t fewest_characters = 4;

bool is_letter(u16 unit) {
  return (unit >= 0x20 && unit < 0x7f) || unit == '\t' || unit == '\r' || unit == '\n';
}

bool is_text(core::ByteView payload) {
  const auto units = payload.size() / sizeof(u16);
  if (payload.size() % sizeof(u16) != 0 || units <= fewest_letters) return false;
  bool letters = true;
  bool pair = false;  // the unit before was the first of two
  for (std::size_t i = 0; i + 1 < units; ++i) {
    const auto unit = *core::load<u16>(payload, i * sizeof(u16));
    const bool high = unit >= 0xd800 && unit < 0xdc00;
    const bool low = unit >= 0xdc00 && unit < 0xe000;
    if (low != pair || (unit < 0x20 && !is_letter(unit)) || unit >= 0xfffe) return false;
    pair = high;
    letters = letters && is_letter(unit);
  }
  const bool ended = *core::load<u16>(payload, payload.size() - sizeof(u16)) == 0;
  return ended && !pair && (letters || units > fewest_characters);
}

}  // namespace

bool is_string_event(const Event& event) {
  if (event.event_class != EventClass::manifest || event.trace_logging || event.id != 0 ||
      event.version != 0)
    return false;
  const auto flags = core::load<u16>(event.header, 4);
  return (flags && (*flags & event_header_flag::string_only) != 0) || is_text(event.payload);
}

std::shared_ptr<const EventSchema> string_event_schema() {
  static const auto schema = [] {
    EventSchema event;
    event.event_name = "EventWriteString";
    FieldSchema text;
    text.name = "Message";
    text.in = InType::utf16;
    event.fields.push_back(std::move(text));
    make_names_unique(event.fields);
    return std::make_shared<const EventSchema>(std::move(event));
  }();
  return schema;
}

}  // namespace coldtrace::tracefile
