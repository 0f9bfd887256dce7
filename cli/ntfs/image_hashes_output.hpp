#pragma once

#include <string>
#include <vector>

#include "cli/output/json.hpp"
#include "coldtrace/ntfs/disk/image_hashes.hpp"

namespace coldtrace::cli {

// The member "hashes".
void write_hashes(JsonWriter& json, const std::vector<ntfs::ImageHash>& hashes);
// "  MD5 d41d8cd98f00b204e9800998ecf8427e, which is that of the bytes\n"
std::string hash_text(const ntfs::ImageHash& hash);

}  // namespace coldtrace::cli
