// The first byte splits the rest into a schema and a payload. Any bytes: the place of an error
// lies inside the schema, and the fields inside the payload.

#include <cstdint>
#include <span>

#include "coldtrace/tracefile/fields/field_decoder.hpp"
#include "tracefile/providers/trace_logging.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace coldtrace;
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span{data, size}).subspan(1);
  const auto cut = bytes.size() * data[0] / 255;
  const auto schema = tracefile::read_trace_logging_schema(bytes.first(cut), "Provider", 0);
  if (!schema) {
    if (schema.error().offset > cut) __builtin_trap();
    return 0;
  }
  const auto payload = bytes.subspan(cut);
  for (const unsigned pointer_size : {4U, 8U}) {
    const auto result = tracefile::measure_fields(*schema, payload, pointer_size, {});
    if (result.consumed > payload.size()) __builtin_trap();
    const auto fixed = tracefile::fixed_fields(*schema, pointer_size);
    const auto quick = tracefile::measure_fields(*schema, payload, pointer_size, fixed);
    if (quick.decoded != result.decoded || quick.consumed != result.consumed) __builtin_trap();
  }
  return 0;
}
