#pragma once

#include <memory>

#include "ntfs/content/stored_stream.hpp"

namespace coldtrace::ntfs {

// How a file that Windows keeps compressed is stored.
enum class WofAlgorithm : u32 { xpress4k = 0, lzx = 1, xpress8k = 2, xpress16k = 3 };

// The `size` plain bytes of such a file, by its stream WofCompressedData: the ends of all chunks
// but the last, counted from behind them, in 4 bytes or from 4 GiB on in 8, then the chunks. A
// chunk as long as its plain bytes is stored as it is.
core::Result<std::unique_ptr<core::ImageSource>> open_wof_content(
    std::unique_ptr<StoredStream> compressed, WofAlgorithm algorithm, u64 size);

}  // namespace coldtrace::ntfs
