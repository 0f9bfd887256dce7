#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/debug_directory.hpp"
#include "coldtrace/pe/image.hpp"
#include "coldtrace/pe/resources.hpp"
#include "coldtrace/pe/version_info.hpp"

namespace coldtrace::pe {

// What distinguishes one build of an image from all others; a build number alone never does.
struct Identity {
  // From the export directory, unconverted bytes, otherwise OriginalFilename; empty without both.
  std::string name;
  Machine machine;
  std::optional<std::string> file_version;  // "6.1.7601.17514"
  u32 time_date_stamp;
  u32 size_of_image;
  u32 checksum;
  std::optional<PdbReference> pdb;
  bool wine;                           // version numbers of Wine's DLLs are not those of Windows
  std::optional<VersionInfo> version;  // of find_version_info()
};

// Whether the headers of two images have the same TimeDateStamp, SizeOfImage, CheckSum and machine:
// all that a running system uses to identify images.
[[nodiscard]] bool same_headers(const Identity& a, const Identity& b);

// "ntdll.dll x64 10.0.19041.685, stamp 0x27bfa5f0, size 0x1f5000, checksum 0x1f8ea7", printable.
[[nodiscard]] std::string to_string(const Identity& identity);

// From headers, debug directory and version resource; damage is reported in findings.
[[nodiscard]] Identity read_identity(const Image& image, core::Findings& findings);

// The version resource that Windows uses: ID 1, and of several languages the neutral one, otherwise
// US English, otherwise the first. The others are a finding.
[[nodiscard]] std::optional<VersionInfo> find_version_info(const Image& image,
                                                           core::Findings& findings);

// Wine's own DLLs, and the empty files that it installs for them, are marked after the DOS header.
// Observed in Wine 8.0.
[[nodiscard]] bool has_wine_marker(const Image& image);

}  // namespace coldtrace::pe
