#include "cli/ntfs/rows/mftecmd_text.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace coldtrace::cli {

std::string to_dotnet_flags(u32 bits, const std::vector<ntfs::UsnFlag>& flags) {
  std::string text;
  u32 left = bits;
  for (const auto& flag : flags) {
    if ((bits & flag.bit) == 0) continue;
    if (!text.empty()) text += '|';
    text += flag.dotnet_name;
    left &= ~flag.bit;
  }
  return left != 0 || bits == 0 ? fmt::format("{}", bits) : text;
}

std::string to_dotnet_attributes(u32 attributes) {
  static const std::vector<ntfs::UsnFlag> names = {{0x1, {}, "ReadOnly"},
                                                   {0x2, {}, "Hidden"},
                                                   {0x4, {}, "System"},
                                                   {0x8, {}, "VolumeLabel"},
                                                   {0x10, {}, "Directory"},
                                                   {0x20, {}, "Archive"},
                                                   {0x40, {}, "Device"},
                                                   {0x80, {}, "Normal"},
                                                   {0x100, {}, "Temporary"},
                                                   {0x200, {}, "SparseFile"},
                                                   {0x400, {}, "ReparsePoint"},
                                                   {0x800, {}, "Compressed"},
                                                   {0x1000, {}, "Offline"},
                                                   {0x2000, {}, "NotContentIndexed"},
                                                   {0x4000, {}, "Encrypted"},
                                                   {0x8000, {}, "IntegrityStream"},
                                                   {0x10000, {}, "Virtual"},
                                                   {0x20000, {}, "NoScrubData"},
                                                   {0x40000, {}, "HasEa"},
                                                   {0x10000000, {}, "IsDirectory"},
                                                   {0x20000000, {}, "IsIndexView"}};
  return to_dotnet_flags(attributes, names);
}

std::string to_dotnet_time(core::FileTime time) {
  if (time.ticks == 0) return {};
  auto text = core::to_string(time);
  if (const auto t = text.find('T'); t != text.npos) text[t] = ' ';
  if (text.ends_with('Z')) text.pop_back();
  return text;
}

std::string_view dotnet_extension(std::string_view name) {
  const auto dot = name.rfind('.');
  return dot == name.npos || dot + 1 == name.size() ? std::string_view{} : name.substr(dot);
}

std::string to_mftecmd_directory(std::string_view directory, bool whole) {
  constexpr std::string_view broken = "/<parent ";
  std::string text = ".";
  if (!whole && directory.starts_with(broken)) {
    const char* at = directory.data() + broken.size();
    const char* const end = directory.data() + directory.size();
    u64 record = 0;
    u32 sequence = 0;
    at = std::from_chars(at, end, record).ptr;
    if (at != end) at = std::from_chars(at + 1, end, sequence).ptr;
    if (at != end) ++at;  // '>'
    text += fmt::format("\\PathUnknown\\Directory with ID 0x{:08X}-{:08X}", record, sequence);
    directory = {at, static_cast<std::size_t>(end - at)};
  }
  const auto start = static_cast<std::ptrdiff_t>(text.size());
  text += directory;
  std::replace(text.begin() + start, text.end(), '/', '\\');
  return text;
}

}  // namespace coldtrace::cli
