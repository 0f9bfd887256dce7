#include "cli/batch/input_parts.hpp"

#include <algorithm>
#include <string_view>

#include <sys/stat.h>

#include "coldtrace/core/file.hpp"
#include "coldtrace/core/split_parts.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/ntfs/ewf_image.hpp"

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

// Files beside a VMDK's descriptor that it names as its data; none of what is no descriptor.
std::vector<std::string> list_vmdk_extents(const std::string& path) {
  constexpr u64 largest = u64{1} << 20U;
  constexpr std::size_t most = 4096;
  std::vector<std::string> extents;
  if (!path.ends_with(".vmdk")) return extents;
  const auto bytes = core::read_whole_file(path, largest);
  if (!bytes) return extents;
  auto text = std::string_view{core::to_chars(*bytes)};
  if (!text.starts_with("# Disk DescriptorFile")) return extents;
  const auto folder = path.substr(0, path.size() - name_of(path).size());
  while (!text.empty() && extents.size() < most) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const auto begin = line.find('"');
    const auto end = line.rfind('"');
    if ((!line.starts_with("RW ") && !line.starts_with("RDONLY ")) || begin == end) continue;
    const auto extent = folder + name_of(std::string{line.substr(begin + 1, end - begin - 1)});
    if (extent != path && is_there(extent)) extents.push_back(extent);
  }
  return extents;
}

// The descriptor of "disk-flat.vmdk", "disk-s001.vmdk": "disk.vmdk".
std::string descriptor_of(const std::string& extent) {
  const auto dash = extent.rfind('-');
  if (!extent.ends_with(".vmdk") || dash == std::string::npos) return {};
  return extent.substr(0, dash) + ".vmdk";
}

}  // namespace

std::vector<std::string> list_input_parts(const std::string& path) {
  std::vector<std::string> parts;
  if (is_first_segment(path))
    for (auto part = path; !part.empty() && is_there(part) && parts.size() < most_segments;
         part = ntfs::next_ewf_segment(part))
      parts.push_back(part);
  if (parts.size() > 1) return parts;
  parts = list_vmdk_extents(path);
  parts.insert(parts.begin(), path);
  if (parts.size() > 1) return parts;
  parts.clear();
  for (const auto& part : core::list_parts(path))
    if (part.there) parts.push_back(part.path);
  return parts;
}

bool is_later_part(const std::string& path) {
  if (is_segment(path) && !is_first_segment(path) &&
      is_there(path.substr(0, path.size() - 2) + "01"))
    return true;
  if (const auto descriptor = descriptor_of(path); !descriptor.empty() && is_there(descriptor)) {
    const auto extents = list_vmdk_extents(descriptor);
    if (std::ranges::find(extents, path) != extents.end()) return true;
  }
  return name_of(list_input_parts(path).front()) != name_of(path);
}

}  // namespace coldtrace::cli
