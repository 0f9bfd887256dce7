#pragma once

#include <string_view>

#include "coldtrace/core/reader.hpp"

namespace coldtrace::pe {

// A CodeView number: below 0x8000 the number itself, else a leaf that says how it is stored. Signed
// numbers are sign-extended; anything but an integer is refused.
u64 read_number(core::Reader& in);

// A name in `record`, of which `in` is the reader: with a length byte in kinds below 0x1500, else
// up to a NUL.
std::string_view read_name(core::Reader& in, core::ByteView record, u16 kind);

}  // namespace coldtrace::pe
