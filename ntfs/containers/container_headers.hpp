#pragma once

#include <string_view>

#include "coldtrace/core/file_kind.hpp"
#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/image_source.hpp"

namespace coldtrace::ntfs {

// Whether the checksum of the footer at an offset of a VHD is right.
bool is_sound_vhd_footer(const core::ImageSource& file, u64 offset);

// Verifies the headers of a dynamic VHD or a VHDX by their checksums, most of which libvhdi
// ignores, and the header and grain directory of a sparse VMDK, which has none, by the size of the
// file. Damage is the finding `image-header`, at its place. Other kinds are not checked. `parent`
// is the name of a file that is not the image itself, but one it depends on.
void check_container_headers(const core::ImageSource& file, core::FileKind kind,
                             std::string_view parent, core::Findings& findings);

}  // namespace coldtrace::ntfs
