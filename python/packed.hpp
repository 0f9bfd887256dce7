#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "coldtrace/core/file_kind.hpp"
#include "coldtrace/core/findings.hpp"
#include "coldtrace/tracefile/packing/unpack.hpp"

namespace coldtrace::python {

// The only file in a packed one for which `is_wanted`; messages call it `wanted`: "a hook table".
// It may be damaged, with findings. Fails with the reason if there is none, or several.
core::Expected<std::unique_ptr<core::ImageSource>, std::string> unpack_one(
    const core::ImageSource& packed, core::FileKind kind, u64 most, std::string_view wanted,
    const tracefile::WantedMember& is_wanted, core::Findings& findings);

// "it is a ZIP archive, not a hook table; unpack it first"
std::string describe_other(const core::Result<core::FileKind>& kind, std::string_view wanted);

}  // namespace coldtrace::python
