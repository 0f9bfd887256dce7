#pragma once

#include <optional>
#include <string>

#include "coldtrace/core/result.hpp"

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
  u16 number = 0;                      // in the file's header
  u64 chunks = 0;                      // in its tables
  std::optional<u64> chunks_of_image;  // as the first segment has it
  End end = End::cut;
  std::string damage;  // behind the segment's name in a sentence; empty: none
};

core::Result<EwfSegment> read_ewf_segment(const std::string& path);

}  // namespace coldtrace::ntfs
