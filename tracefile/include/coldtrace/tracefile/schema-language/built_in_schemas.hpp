#pragma once

#include <array>
#include <string_view>

namespace coldtrace::tracefile {

// Schemas that come with coldtrace: tracefile/schemas/NAME.schema.
struct BuiltInSchema {
  std::string_view name;
  std::string_view text;
};
[[nodiscard]] const std::array<BuiltInSchema, 4>& built_in_schemas();

}  // namespace coldtrace::tracefile
