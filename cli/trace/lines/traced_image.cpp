#include "cli/trace/lines/traced_image.hpp"

#include <charconv>
#include <string_view>

namespace coldtrace::cli {
namespace {

// "6.1.7601.17514"; what has other than four numbers of 16 bits is not known.
std::array<u16, 4> to_parts(std::string_view version) {
  std::array<u16, 4> parts{};
  const char* at = version.data();
  const char* const end = at + version.size();
  for (auto& part : parts) {
    const auto result = std::from_chars(at, end, part);
    if (result.ec != std::errc{}) return {};
    at = result.ptr + (result.ptr != end ? 1 : 0);
  }
  return at == end ? parts : std::array<u16, 4>{};
}

}  // namespace

tracefile::TracedImage to_traced_image(const pe::Identity& identity) {
  tracefile::TracedImage image;
  image.machine = static_cast<u16>(identity.machine);
  image.time_date_stamp = identity.time_date_stamp;
  image.size_of_image = identity.size_of_image;
  image.checksum = identity.checksum;
  image.name = identity.name;
  image.file_version = to_parts(identity.file_version.value_or(""));
  if (identity.pdb && identity.pdb->guid) {
    image.pdb_guid = *identity.pdb->guid;
    image.pdb_age = identity.pdb->age;
    image.pdb_name = identity.pdb->name;
  }
  return image;
}

pe::LoadedFile to_loaded_file(const tracefile::TracedImage& image) {
  pe::LoadedFile loaded{image.time_date_stamp, image.checksum, image.size_of_image, std::nullopt};
  if (image.pdb_guid != core::Guid{})
    loaded.pdb = {image.pdb_name, image.pdb_guid, std::nullopt, image.pdb_age};
  return loaded;
}

}  // namespace coldtrace::cli
