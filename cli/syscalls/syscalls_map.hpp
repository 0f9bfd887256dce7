#pragma once

#include <vector>

#include "cli/images/mapped_image.hpp"

namespace coldtrace::cli {

// The formats of "syscalls map" other than text. JSON and CSV are written image by image: the
// members services and rejected, and the rows below map_csv_header.
constexpr std::string_view map_csv_header =
    "path,file_version,machine,time_date_stamp,size_of_image,checksum,number,name,aliases,table,"
    "rva,file_offset,argument_bytes,shape,raw_immediate,source,hooked,verified\n";
void write_map_json(JsonWriter& json, const syscall_map::ServiceMap& map);
void write_map_csv(Output& output, const std::string& path, const pe::Identity& identity,
                   const syscall_map::ServiceMap& map);
void write_map_c_header(Output& output, const std::vector<MappedImage>& images);
// Includes the inputs that could not be used.
void write_map_sqlite(Output& output, const std::vector<MappedImage>& images,
                      const std::vector<FailedInput>& failed);
void write_map_j00ru_csv(Output& output, const std::vector<MappedImage>& images);

}  // namespace coldtrace::cli
