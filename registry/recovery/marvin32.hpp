#pragma once

#include "coldtrace/core/reader.hpp"

namespace coldtrace::registry {

// Marvin32 with the seed of registry logs, as a little-endian number of the 8 bytes that entries
// store. Source: M. Suhanov, "Windows registry file format specification", log entries; .NET's
// Marvin.cs has the same rounds.
[[nodiscard]] u64 marvin32(core::ByteView bytes);

}  // namespace coldtrace::registry
