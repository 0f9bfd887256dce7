#pragma once

#include <optional>

#include "coldtrace/tracefile/fields/value_text.hpp"

namespace coldtrace::tracefile {

// The shape of a field's values, whatever they are but for those that are absent; nothing of arrays
// and structures. Of text that the payload alone tells the encoding of, `text`.
[[nodiscard]] std::optional<ValueShape> shape_of(const FieldSchema& field, bool clock_known = true);

}  // namespace coldtrace::tracefile
