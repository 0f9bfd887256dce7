#pragma once

#include <string>

#include "cli/report/snapshot/volume_sections.hpp"
#include "coldtrace/ntfs/summary/volume_summary.hpp"

namespace coldtrace::cli {

// The packed names of a volume for the page's search (docs/commands/report.md), and how many there
// was room for.
struct NamesData {
  std::string packed;
  std::size_t names = 0;
};

// In at most `room` bytes, or no names: what is left out first are extents after the first of each
// file, then all names except those of the files that take the most space.
NamesData names_data(const VolumeAnswers& answers, const ntfs::VolumeNames& names, u64 room);

// Writes the element for the search, and what the search leaves out.
void write_search(Html& html, const VolumeAnswers& answers, const ntfs::VolumeNames& names,
                  const NamesData& data);

}  // namespace coldtrace::cli
