#pragma once

#include <string_view>

#include "coldtrace/core/file_kind.hpp"

namespace coldtrace::ntfs {

// Whether an archive member of this kind, or the content of a compressed file, is an image of a
// disk or a volume, or a $MFT. An unknown kind counts as one if its name ends like one (".img").
[[nodiscard]] bool may_be_image(core::FileKind kind, std::string_view name);

// Whether a file of this kind is not itself a disk: it contains one in a format that was not opened
// (an Ex01 image, a compressed file), only files (L01), or nothing.
[[nodiscard]] bool is_unopened_container(core::FileKind kind);

}  // namespace coldtrace::ntfs
