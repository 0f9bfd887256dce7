#pragma once

#include <memory>

#include "ntfs/content/stored_stream.hpp"

namespace coldtrace::ntfs {

// How a file that Windows keeps compressed (WOF) is stored.
enum class WofAlgorithm : u32 { xpress4k = 0, lzx = 1, xpress8k = 2, xpress16k = 3 };

// The `size` plain bytes of such a file, from its stream WofCompressedData: a table of the ends of
// all chunks but the last, counted from the end of the table, 4 bytes each, or 8 for files from 4
// GiB on, then the chunks. A chunk as long as its plain bytes is stored uncompressed.
core::Result<std::unique_ptr<core::ImageSource>> open_wof_content(
    std::unique_ptr<StoredStream> compressed, WofAlgorithm algorithm, u64 size);

}  // namespace coldtrace::ntfs
