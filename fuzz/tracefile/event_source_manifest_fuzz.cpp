// Any text: a manifest is refused, or its schemas are bounded and read any payload without leaving
// it; what it declares it has.

#include <array>
#include <cstdint>
#include <span>

#include "coldtrace/core/text.hpp"
#include "coldtrace/tracefile/fields/field_decoder.hpp"
#include "coldtrace/tracefile/instrumentation/instrumentation_manifest.hpp"
#include "tracefile/providers/event_source_manifest.hpp"

namespace {

using namespace coldtrace;
using namespace coldtrace::tracefile;

void measure(const EventSchema& schema) {
  std::array<std::byte, 64> payload;
  payload.fill(std::byte{2});
  if (schema.fields.size() > most_fields) __builtin_trap();
  const auto fixed = fixed_fields(schema, 8);
  if (measure_fields(schema, payload, 8, fixed).consumed > payload.size()) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span{data, size});
  const auto manifest = read_event_manifest(core::to_chars(bytes), 0);
  const auto whole = InstrumentationManifest::read(bytes, 0, {"de-DE"});
  if (manifest.has_value() != whole.has_value()) __builtin_trap();
  if (!manifest) {
    if (manifest.error().offset > size) __builtin_trap();
    return 0;
  }
  for (const auto& [key, schema] : manifest->schemas) measure(schema);
  constexpr std::size_t most = 64;  // of each: to fuzz is to be quick
  core::Findings findings;
  for (std::size_t i = 0; i < std::min(whole->providers().size(), most); ++i) {
    const auto& guid = whole->providers()[i];
    static_cast<void>(whole->is_recreated(guid));
    const auto schemas = whole->find(guid, {}, findings);
    if (!schemas || schemas->guid() != guid) __builtin_trap();
    const auto events = schemas->events();
    for (std::size_t n = 0; n < std::min(events.size(), most); ++n)
      if (const auto schema = schemas->find(events[n].id, events[n].version)) measure(*schema);
  }
  return 0;
}
