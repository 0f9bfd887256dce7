// The first byte splits the rest into a WEVT_TEMPLATE resource and a payload. Any bytes: places lie
// in the file, fields in the payload, and a look-up by number finds what the rows have.

#include <cstdint>
#include <span>

#include "coldtrace/tracefile/instrumentation/wevt_schemas.hpp"
#include "coldtrace/tracefile/messages/event_message.hpp"

namespace {

using namespace coldtrace;
using namespace coldtrace::tracefile;

// Every number has a text, with inserts.
class Texts final : public MessageTexts {
 public:
  std::string find(u32 id) const override { return "%1 %2!s! %99 " + std::to_string(id); }
};

void decode(const EventSchema& schema, core::ByteView payload) {
  for (const unsigned pointer_size : {4U, 8U}) {
    const auto result = measure_fields(schema, payload, pointer_size, {});
    if (result.consumed > payload.size()) __builtin_trap();
    const auto quick =
        measure_fields(schema, payload, pointer_size, fixed_fields(schema, pointer_size));
    if (quick.decoded != result.decoded || quick.consumed != result.consumed) __builtin_trap();
  }
  const Clock clock;
  EventMessage message{clock};
  Event event{};
  event.pointer_size = 8;
  event.payload = payload;
  if (message.make(schema, event).size() > 4096 + 4 * (schema.message.size() + payload.size()))
    __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span{data, size}).subspan(1);
  const auto cut = bytes.size() * data[0] / 255;
  const auto payload = bytes.subspan(cut);
  core::Findings findings;
  const auto resource = WevtResource::read(bytes.first(cut), 0, findings);
  if (!resource) return 0;
  constexpr std::size_t most = 64;  // of each: to fuzz is to be quick
  const Texts texts;
  for (const auto& place :
       std::span{resource->providers}.first(std::min(resource->providers.size(), most))) {
    const auto provider = read_wevt_provider(*resource, place, findings);
    auto schemas = WevtSchemas::read(*resource, place, {"", &texts}, findings);
    if (provider.has_value() != schemas.has_value()) __builtin_trap();
    if (!provider) continue;
    for (u32 i = 0; i < std::min<u64>(provider->events, most); ++i) {
      const auto event = read_wevt_event(*resource, *provider, i);
      if (!event) __builtin_trap();  // as many as there is room for
      const auto found = find_wevt_event(*resource, *provider, event->id, event->version);
      if (found &&
          (found->id != event->id || found->version != event->version || found->is_classic()))
        __builtin_trap();
      if (const auto schema = (*schemas)->find(event->id, event->version)) decode(*schema, payload);
      u64 rest = 0;
      static_cast<void>((*schemas)->names().find_keywords(event->keywords, rest));
    }
  }
  for (const auto& finding : findings.all())
    if (!finding.first_offset) __builtin_trap();
  return 0;
}
