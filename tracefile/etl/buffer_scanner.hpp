#pragma once

#include <optional>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/image_source.hpp"
#include "coldtrace/tracefile/etl/buffer_scan.hpp"

namespace coldtrace::tracefile {

// Walks the buffer headers to the end of the file, whatever the header says of their number, and
// finds buffers again behind damage. A file whose first buffer is lost is read without its header.
// Compressed buffers are taken while they unpack to no more than `largest_unpacked` bytes, and
// where that is not given to no more than the file justifies. Fails when there is no buffer of
// events near the start of the file.
core::Result<BufferScan> scan_buffers(const core::ImageSource& source,
                                      std::optional<u64> largest_unpacked,
                                      core::Findings& findings);

}  // namespace coldtrace::tracefile
