#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "coldtrace/core/image_source.hpp"
#include "coldtrace/ntfs/disk/ewf_patch.hpp"

namespace coldtrace::ntfs {

// What one segment file of an E01 image says of itself, as far as its checksums confirm it.
struct EwfSegment {
  enum class End : u8 {
    next,          // another segment follows
    done,          // the last one
    last_section,  // damaged or cut off, with no room left for a table
    damaged,       // what follows a damaged section or table is unknown
    cut,           // the file ends before a section
  };
  u16 number = 0;                       // according to the file's header
  bool sound_header = true;             // but for the number
  std::vector<EwfPatch> without_notes;  // that hide its sections of case notes
  std::vector<EwfPatch> patches;        // of sections
  u64 chunks = 0;                       // in its tables
  std::optional<u64> chunks_of_image;   // according to the first segment
  // The same in all segments of one image; older programs do not write it.
  std::optional<std::array<std::byte, 16>> set_identifier;
  End end = End::cut;
  std::string damage;  // follows the segment's name in a sentence; empty: none
};

// `first`: this is the segment with the case notes.
core::Result<EwfSegment> read_ewf_segment(const std::string& path, bool first);

// Whether the first section of a file is sound.
bool has_ewf_section(const core::ImageSource& file);

// The file header that a segment should have, as a patch.
EwfPatch make_file_header(u16 number);

// Makes libewf skip the section at `offset` of a file.
EwfPatch hide_section(u64 offset, u64 next);

}  // namespace coldtrace::ntfs
