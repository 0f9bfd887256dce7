#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "coldtrace/core/reader.hpp"

namespace coldtrace::ntfs {

// The contents of a $REPARSE_POINT. Source: Windows SDK, REPARSE_DATA_BUFFER; [MS-FSCC] 2.1.2.
struct ReparsePoint {
  u32 tag;
  // The target of a junction or link, the package of an app alias, or how a compressed file is
  // stored ("wim", "xpress4k", "lzx", ...); absent for tags without a public layout. Exact text
  // (core/utf16.hpp), of an LX link its bytes, which should be UTF-8.
  std::optional<std::string> target;
};

// `value` is that of a $REPARSE_POINT attribute, at byte `offset` of the image.
core::Result<ReparsePoint> read_reparse_point(core::ByteView value, u64 offset);

// Whether the target is bytes, not UTF-16: of an LX link.
[[nodiscard]] bool has_byte_target(u32 tag);

// "symlink", "mount_point", "cloud"...; empty for an unknown tag.
[[nodiscard]] std::string_view reparse_tag_name(u32 tag);

}  // namespace coldtrace::ntfs
