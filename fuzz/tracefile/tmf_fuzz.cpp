// The first byte splits the rest into a TMF text and the arguments of a message. Any bytes: what
// the text names as a message is decoded and written out, in proportion to both.

#include <cstdint>
#include <span>

#include "coldtrace/core/text.hpp"
#include "coldtrace/tracefile/messages/event_message.hpp"
#include "coldtrace/tracefile/messages/message_formats.hpp"

namespace {

using namespace coldtrace;
using namespace coldtrace::tracefile;

constexpr auto source_file = *core::parse_guid("5e0d3f0e-97a4-4ba7-9d4c-62d5b4b3e011");

void decode(const EventSchema& schema, core::ByteView payload) {
  const Clock clock;
  EventMessage message{clock};
  Event event{};
  event.event_class = EventClass::message;
  event.payload = payload;
  for (const u8 pointer_size : {u8{4}, u8{8}}) {
    const auto result = measure_fields(schema, payload, pointer_size, {});
    if (result.consumed > payload.size()) __builtin_trap();
    event.pointer_size = pointer_size;
    const auto text = message.make(schema, event);
    if (text.size() > 4096 + 4 * (schema.message.size() + payload.size())) __builtin_trap();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span{data, size}).subspan(1);
  const auto cut = bytes.size() * data[0] / 255;
  std::set<SchemaKey> wanted;
  for (u16 number = 8; number < 16; ++number) wanted.insert({source_file, number, 0, false, true});
  core::Findings findings;
  MessageFormats formats{wanted};
  formats.add(bytes.first(cut), "a", findings);
  formats.add_annotations(core::to_chars(bytes.first(cut)), {"FLAG"}, "b", findings);
  static_cast<void>(MessageFormats::is_likely(bytes.first(cut)));
  for (const auto& key : wanted) {
    if (const auto schema = formats.find(key)) decode(*schema, bytes.subspan(cut));
    for (const auto& other : formats.find_others(key)) decode(*other, bytes.subspan(cut));
  }
  return 0;
}
