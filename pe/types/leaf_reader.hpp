#pragma once

#include <string_view>

#include "coldtrace/core/reader.hpp"

namespace coldtrace::pe {

// A number of CodeView: below 0x8000 itself, else a leaf that says how it is stored. Signed ones
// are sign-extended. Others than integers are refused.
u64 read_number(core::Reader& in);

// A name of `record`, which `in` reads from its start: with a length byte in kinds below 0x1500,
// else up to a NUL.
std::string_view read_name(core::Reader& in, core::ByteView record, u16 kind);

}  // namespace coldtrace::pe
