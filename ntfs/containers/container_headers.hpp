#pragma once

#include <string_view>

#include "coldtrace/core/file_kind.hpp"
#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/image_source.hpp"

namespace coldtrace::ntfs {

// Whether the footer that stands at an offset of a VHD has the bytes that its checksum is of.
bool is_sound_vhd_footer(const core::ImageSource& file, u64 offset);

// Holds the headers of a dynamic VHD or a VHDX against their checksums, most of which libvhdi does
// not look at, and the header and grain directory of a sparse VMDK, which has none, against the
// file: what is damaged is the finding `image-header`, at its place. Of other kinds nothing is
// said. `parent` is the name of a file that is not the image itself, but what it rests on.
void check_container_headers(const core::ImageSource& file, core::FileKind kind,
                             std::string_view parent, core::Findings& findings);

}  // namespace coldtrace::ntfs
