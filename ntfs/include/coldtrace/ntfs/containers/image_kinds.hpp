#pragma once

#include <string_view>

#include "coldtrace/core/file_kind.hpp"

namespace coldtrace::ntfs {

// Whether a member of this kind of an archive, or what a packed file holds, is an image of a disk
// or a volume, or a $MFT. What nothing is known of is one by the end of its name (".img").
[[nodiscard]] bool may_be_image(core::FileKind kind, std::string_view name);

// Whether a file of this kind is not a disk as it lies there: it holds one in another arrangement
// that was not opened (an Ex01 image, a packed file), files alone (L01), or nothing.
[[nodiscard]] bool is_unopened_container(core::FileKind kind);

}  // namespace coldtrace::ntfs
