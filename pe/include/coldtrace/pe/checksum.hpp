#pragma once

#include "coldtrace/core/reader.hpp"

namespace coldtrace::pe {

// The required value of the CheckSum field at `checksum_offset` of a file: the one's complement sum
// of all 16-bit words except the field's own, plus the size of the file. Drivers and boot-time DLLs
// must have it. Source: behaviour of CheckSumMappedFile, compared with the files it wrote.
[[nodiscard]] u32 compute_checksum(core::ByteView file, u64 checksum_offset);

}  // namespace coldtrace::pe
