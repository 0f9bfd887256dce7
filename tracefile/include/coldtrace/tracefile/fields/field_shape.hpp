#pragma once

#include <optional>

#include "coldtrace/tracefile/fields/value_text.hpp"

namespace coldtrace::tracefile {

// The shape of a field's values, except for those that are absent; nothing for arrays and
// structures. `text` for text whose encoding only the payload tells.
[[nodiscard]] std::optional<ValueShape> shape_of(const FieldSchema& field, bool clock_known = true);

}  // namespace coldtrace::tracefile
