#include "cli/ntfs/image_hashes_output.hpp"

#include <fmt/format.h>

namespace coldtrace::cli {

void write_hashes(JsonWriter& json, const std::vector<ntfs::ImageHash>& hashes) {
  json.key("hashes").begin_array();
  for (const auto& hash : hashes) {
    json.begin_object().field("algorithm", hash.algorithm).field("stored", hash.stored);
    json.field("computed", hash.computed).field("matches", hash.matches()).end_object();
  }
  json.end_array();
}

std::string hash_text(const ntfs::ImageHash& hash) {
  const auto matches = hash.matches();
  const auto verdict = !matches   ? std::string{}
                       : *matches ? std::string{", which matches its bytes"}
                                  : ", but its bytes have " + *hash.computed;
  return fmt::format("  states the {} {}{}\n", hash.name(), hash.stored, verdict);
}

}  // namespace coldtrace::cli
