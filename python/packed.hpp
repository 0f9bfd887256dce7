#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "coldtrace/core/file_kind.hpp"
#include "coldtrace/core/findings.hpp"
#include "coldtrace/tracefile/packing/unpack.hpp"

namespace coldtrace::python {

// The one file of a packed one that `is_wanted`, which people call `wanted`: "a hook table". It may
// be damaged, which findings say. Fails, with why, where there is none, or several.
core::Expected<std::unique_ptr<core::ImageSource>, std::string> unpack_one(
    const core::ImageSource& packed, core::FileKind kind, u64 most, std::string_view wanted,
    const tracefile::WantedMember& is_wanted, core::Findings& findings);

// "it is a ZIP archive, not a hook table; unpack it first"
std::string describe_other(const core::Result<core::FileKind>& kind, std::string_view wanted);

}  // namespace coldtrace::python
