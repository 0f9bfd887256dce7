#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::ntfs {

// Names of the flags that are set, in the order of their bits: of $STANDARD_INFORMATION, or of a
// $FILE_NAME in an index. Unknown ones in hexadecimal.
[[nodiscard]] std::vector<std::string> dos_attribute_names(u32 attributes);
// The reverse: 0 for an unknown name.
[[nodiscard]] u32 dos_attribute_bit(std::string_view name);

}  // namespace coldtrace::ntfs
