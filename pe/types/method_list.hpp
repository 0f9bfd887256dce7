#pragma once

#include <optional>
#include <vector>

#include "coldtrace/pdb/field_list.hpp"

namespace coldtrace::pe {

// The functions of an LF_METHODLIST as methods without names. Nothing if the record is of another
// kind or damaged. Source: microsoft-pdb, cvinfo.h, mlMethod.
[[nodiscard]] std::optional<std::vector<Field>> read_method_list(core::ByteView record);

}  // namespace coldtrace::pe
