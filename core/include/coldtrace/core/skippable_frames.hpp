#pragma once

#include <functional>
#include <vector>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::core {

// The end of the skippable frames that .zst and .lz4 files may start with, as pzstd writes them: 0
// if there are none, at most `size`. `read` may return less than it is asked for. At most 64 frames
// are looked at. Sources: RFC 8878, 3.1.2; the LZ4 frame format.
[[nodiscard]] u64 behind_skippable_frames(
    u64 size, const std::function<std::vector<std::byte>(u64 offset, u64 length)>& read);

}  // namespace coldtrace::core
