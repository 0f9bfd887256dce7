#pragma once

#include <optional>
#include <string>

#include "coldtrace/tracefile/etl/buffer_scan.hpp"

namespace coldtrace::tracefile {

// Why timestamps of two files do not count from one point of one clock, as far as their headers
// tell: "frequency 10000000 and 3000000"; nothing where they do.
std::optional<std::string> find_clock_mismatch(const BufferScan& one, const BufferScan& other);

// Why they are not from one boot of one machine although their clocks may be one: "boot time
// 2024-01-01T00:00:00.0000000Z and 2024-02-01T00:00:00.0000000Z".
std::optional<std::string> find_machine_mismatch(const BufferScan& one, const BufferScan& other);

// Fails where files that may be copies cannot be read.
core::Result<bool> is_copy(const ScannedFile& one, const ScannedFile& other);

// The number of a buffer behind that of the header that both have, byte for byte as far as neither
// is cut and both can be read: together they would have its events twice. Each file of a session
// has the header's.
std::optional<i64> find_shared_buffer(const ScannedFile& one, const ScannedFile& other);

}  // namespace coldtrace::tracefile
