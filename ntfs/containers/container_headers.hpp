#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/file_kind.hpp"
#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/image_source.hpp"
#include "coldtrace/core/result.hpp"

namespace coldtrace::ntfs {

// Whether the checksum of the footer at an offset of a VHD is right.
bool is_sound_vhd_footer(const core::ImageSource& file, u64 offset);

// Verifies the headers of a dynamic VHD or a VHDX by their checksums, most of which libvhdi
// ignores, and the header and grain directory of a sparse VMDK, which has none, by the size of the
// file. Damage is the finding `image-header`, at its place. Other kinds are not checked. `parent`
// is the name of a file that is not the image itself, but one it depends on.
void check_container_headers(const core::ImageSource& file, core::FileKind kind,
                             std::string_view parent, core::Findings& findings);

// Whether all can be read of the 64 MiB at either end of a disk's files, where its tables are: a
// library that does not open the disk does not say that it was this. An error is of the file at
// `path`; one of another is the finding `unreadable-range`.
core::Result<core::Done> check_tables_readable(const std::string& path,
                                               const std::vector<std::string>& files,
                                               core::Findings& findings);

}  // namespace coldtrace::ntfs
