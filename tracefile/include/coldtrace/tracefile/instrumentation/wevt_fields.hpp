#pragma once

#include <functional>

#include "coldtrace/tracefile/fields/field_schema.hpp"
#include "coldtrace/tracefile/instrumentation/wevt_resource.hpp"

namespace coldtrace::tracefile {

// The fields of a template.
struct WevtFields {
  std::vector<FieldSchema> fields;
  u16 slots = 0;  // the greatest in use
};

// The fields that a template declares. An item of unknown type, or a binary without length, ends
// the payload: decoding stops there. `offset` is the template's in the file.
core::Result<WevtFields> to_fields(
    const WevtTemplate& declared, u64 offset,
    const std::function<std::shared_ptr<const ValueMap>(u32)>& find_map);

}  // namespace coldtrace::tracefile
