// Any text: a manifest is refused, or its schemas are bounded and read any payload without leaving
// it.

#include <array>
#include <cstdint>
#include <span>

#include "coldtrace/core/text.hpp"
#include "coldtrace/tracefile/field_decoder.hpp"
#include "tracefile/providers/event_source_manifest.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace coldtrace;
  const auto text = core::to_chars(std::as_bytes(std::span{data, size}));
  const auto manifest = tracefile::read_event_manifest(text, 0);
  if (!manifest) {
    if (manifest.error().offset > size) __builtin_trap();
    return 0;
  }
  std::array<std::byte, 64> payload;
  payload.fill(std::byte{2});
  for (const auto& [key, schema] : manifest->schemas) {
    if (schema.fields.size() > tracefile::most_fields) __builtin_trap();
    const auto fixed = tracefile::fixed_fields(schema, 8);
    if (tracefile::measure_fields(schema, payload, 8, fixed).consumed > payload.size())
      __builtin_trap();
  }
  return 0;
}
