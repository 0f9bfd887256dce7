#include "coldtrace/ntfs/structures/dos_attributes.hpp"

#include <charconv>
#include <utility>

#include <fmt/format.h>

namespace coldtrace::ntfs {
namespace {

// Source: [MS-FSCC] 2.6, "File Attributes". Stored, 0x40000 is FILE_ATTRIBUTE_EA: the file has
// extended attributes. FILE_ATTRIBUTE_RECALL_ON_OPEN is the same bit in what directory queries
// return (winnt.h); older snapshots have its name.
constexpr std::pair<u32, std::string_view> attribute_names[] = {{0x1, "readonly"},
                                                                {0x2, "hidden"},
                                                                {0x4, "system"},
                                                                {0x10, "directory"},
                                                                {0x20, "archive"},
                                                                {0x40, "device"},
                                                                {0x80, "normal"},
                                                                {0x100, "temporary"},
                                                                {0x200, "sparse"},
                                                                {0x400, "reparse_point"},
                                                                {0x800, "compressed"},
                                                                {0x1000, "offline"},
                                                                {0x2000, "not_content_indexed"},
                                                                {0x4000, "encrypted"},
                                                                {0x8000, "integrity_stream"},
                                                                {0x20000, "no_scrub_data"},
                                                                {0x40000, "ea"},
                                                                {0x40000, "recall_on_open"},
                                                                {0x80000, "pinned"},
                                                                {0x100000, "unpinned"},
                                                                {0x400000, "recall_on_data_access"},
                                                                {0x10000000, "i30_index"},
                                                                {0x20000000, "view_index"}};

}  // namespace

std::vector<std::string> dos_attribute_names(u32 attributes) {
  std::vector<std::string> result;
  for (const auto& [bit, name] : attribute_names) {
    if (attributes & bit) result.emplace_back(name);
    attributes &= ~bit;
  }
  for (u32 bit = 1; bit != 0; bit <<= 1)
    if (attributes & bit) result.push_back(fmt::format("{:#x}", bit));
  return result;
}

u32 dos_attribute_bit(std::string_view name) {
  for (const auto& [bit, known] : attribute_names)
    if (known == name) return bit;
  u32 bit = 0;
  if (name.starts_with("0x")) std::from_chars(name.data() + 2, name.data() + name.size(), bit, 16);
  return bit;
}

}  // namespace coldtrace::ntfs
