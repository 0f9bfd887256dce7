#include "cli/ntfs/input_parts.hpp"

#include <string_view>

#include <sys/stat.h>

#include "coldtrace/core/glob.hpp"
#include "coldtrace/core/split_parts.hpp"
#include "coldtrace/ntfs/containers/virtual_disk.hpp"
#include "coldtrace/ntfs/containers/vmdk_extents.hpp"
#include "coldtrace/ntfs/disk/ewf_image.hpp"

namespace coldtrace::cli {
namespace {

constexpr std::size_t most_segments = 14'971;  // .E01 to .ZZZ

bool is_there(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

// Whether its extension is that of a segment: ".E02".
bool is_segment(const std::string& path) {
  const auto dot = path.rfind('.');
  return dot != std::string::npos && path.size() - dot == 4 &&
         std::string_view{"EeLlSs"}.find(path[dot + 1]) != std::string_view::npos;
}

bool is_first_segment(const std::string& path) {
  return is_segment(path) && path.ends_with("01");
}

std::string name_of(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

// The segments of an EnCase image or the parts of a split one; otherwise itself alone.
std::vector<std::string> list_pieces(const std::string& path) {
  std::vector<std::string> parts;
  if (is_first_segment(path))
    for (auto part = path; !part.empty() && is_there(part) && parts.size() < most_segments;
         part = ntfs::next_ewf_segment(part))
      parts.push_back(part);
  if (parts.size() > 1) return parts;
  parts.clear();
  for (const auto& part : core::list_parts(path))
    if (part.there) parts.push_back(part.path);
  return parts;
}

}  // namespace

std::vector<std::string> list_input_parts(const std::string& path,
                                          const std::vector<std::string>& parents) {
  auto parts = list_pieces(path);
  return parts.size() > 1 || !is_there(path) ? parts : ntfs::list_disk_files(path, parents);
}

bool is_later_part(const std::string& path) {
  if (is_segment(path) && !is_first_segment(path) &&
      is_there(path.substr(0, path.size() - 2) + "01"))
    return true;
  return name_of(list_pieces(path).front()) != name_of(path);
}

std::set<std::string> names_of_extents(const std::vector<std::string>& paths) {
  std::set<std::string> names;
  std::vector<std::string> descriptors;
  for (const auto& path : paths) {
    if (!glob_matches("*.vmdk", name_of(path), GlobCase::insensitive)) continue;
    const auto extents = ntfs::list_extents(path);
    if (!extents.empty()) descriptors.push_back(name_of(path));
    for (const auto& extent : extents) names.insert(name_of(extent));
  }
  for (const auto& name : descriptors) names.erase(name);
  return names;
}

}  // namespace coldtrace::cli
