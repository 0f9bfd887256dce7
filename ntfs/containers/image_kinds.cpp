#include "coldtrace/ntfs/containers/image_kinds.hpp"

#include <algorithm>
#include <array>

namespace coldtrace::ntfs {

using core::FileKind;

bool may_be_image(FileKind kind, std::string_view name) {
  switch (kind) {
    case FileKind::ntfs_volume:
    case FileKind::ntfs_mft:
    case FileKind::disk_mbr:
    case FileKind::disk_gpt:
    case FileKind::vhd_fixed:
    case FileKind::ewf:
    case FileKind::ewf_2:
      return true;
    case FileKind::unknown:
    case FileKind::zeros:
      return std::ranges::any_of(
          std::array<std::string_view, 6>{".img", ".raw", ".dd", ".001", ".bin", ".vhd"},
          [&](std::string_view end) { return name.ends_with(end); });
    default:
      return core::is_virtual_disk(kind);
  }
}

bool is_unopened_container(FileKind kind) {
  switch (kind) {
    case FileKind::ewf_2:
    case FileKind::ewf_logical:
    case FileKind::aff:
    case FileKind::empty:
      return true;
    default:
      return core::is_virtual_disk(kind) || core::is_packed(kind);
  }
}

}  // namespace coldtrace::ntfs
