// Any text as schemas: it is refused inside itself, or it is printed and read back the same, has a
// C header, and decodes its own bytes in bounded time where the layout says.

#include <algorithm>
#include <cstdint>
#include <span>

#include "coldtrace/core/text.hpp"
#include "coldtrace/tracefile/fields/field_decoder.hpp"
#include "coldtrace/tracefile/schema-language/schema_c_header.hpp"
#include "coldtrace/tracefile/schema-language/schema_compiler.hpp"
#include "coldtrace/tracefile/schema-language/schema_layout.hpp"
#include "coldtrace/tracefile/schema-language/schema_parser.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace coldtrace;
  using namespace coldtrace::tracefile;
  const auto bytes = std::as_bytes(std::span{data, size});
  const auto text = core::to_chars(bytes);
  const auto schemas = parse_schemas(text);
  if (!schemas) {
    const auto lines = 1 + std::count(text.begin(), text.end(), '\n');
    if (schemas.error().line > lines || schemas.error().column > size + 1) __builtin_trap();
    return 0;
  }
  const auto printed = parse_schemas(to_text(*schemas));
  if (!printed || *printed != *schemas) __builtin_trap();
  if (to_c_header(*schemas).empty()) __builtin_trap();
  const CompiledSchemas compiled{*schemas, 8};
  for (const auto& schema : *schemas)
    for (const auto& event : schema.events) {
      const auto* known = compiled.find_event(event.id, event.version);
      if (known == nullptr) __builtin_trap();
      const auto result = measure_fields(*known->schema, bytes, 8, fixed_fields(*known->schema, 8));
      const auto layout = compute_layout(schema, event.fields, 8);
      if (layout.size && *layout.size <= size && result.consumed != *layout.size) __builtin_trap();
    }
  return 0;
}
