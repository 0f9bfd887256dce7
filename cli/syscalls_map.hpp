#pragma once

#include <vector>

#include "cli/mapped_image.hpp"

namespace coldtrace::cli {

// The formats of "syscalls map" beside text, one file each.
void write_map_json(Output& output, Int64 int64, const std::vector<MappedImage>& images);
void write_map_csv(Output& output, const std::vector<MappedImage>& images);
void write_map_c_header(Output& output, const std::vector<MappedImage>& images);
void write_map_j00ru_csv(Output& output, const std::vector<MappedImage>& images);

}  // namespace coldtrace::cli
