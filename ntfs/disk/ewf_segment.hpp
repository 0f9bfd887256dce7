#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "coldtrace/core/image_source.hpp"
#include "coldtrace/ntfs/disk/ewf_patch.hpp"

namespace coldtrace::ntfs {

// What one segment file of an E01 image says of itself, as far as its checksums bear it out.
struct EwfSegment {
  enum class End : u8 {
    next,          // another segment follows
    done,          // the last one
    last_section,  // damaged or cut off, and no table has room in it
    damaged,       // what follows a damaged section or table is unknown
    cut,           // the file ends before a section
  };
  u16 number = 0;                       // in the file's header
  bool sound_header = true;             // but for the number
  std::vector<EwfPatch> without_notes;  // that hide sections of case notes
  std::vector<EwfPatch> patches;        // of sections
  u64 chunks = 0;                       // in its tables
  std::optional<u64> chunks_of_image;   // as the first segment has it
  // The same in all segments of one image; older programs write none.
  std::optional<std::array<std::byte, 16>> set_identifier;
  End end = End::cut;
  std::string damage;  // behind the segment's name in a sentence; empty: none
};

// `first`: the one with the case notes.
core::Result<EwfSegment> read_ewf_segment(const std::string& path, bool first);

// Whether the first section of a file is sound.
bool has_ewf_section(const core::ImageSource& file);

// The file header that a segment should have.
EwfPatch make_file_header(u16 number);

// Makes libewf pass over the section at `offset` of a file.
EwfPatch hide_section(u64 offset, u64 next);

}  // namespace coldtrace::ntfs
