#pragma once

#include <string_view>
#include <vector>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::ntfs {

// A bit of a change journal's record: its name here, and as .NET programs write it.
struct UsnFlag {
  u32 bit;
  std::string_view name;
  std::string_view dotnet_name;
};

// What happened to a file, USN_REASON_*, and who did it, USN_SOURCE_*; by value.
// Source: the Windows SDK's winioctl.h.
[[nodiscard]] const std::vector<UsnFlag>& usn_reasons();
[[nodiscard]] const std::vector<UsnFlag>& usn_sources();

// Reasons that the replay of a journal needs.
constexpr u32 usn_file_create = 0x100;
constexpr u32 usn_file_delete = 0x200;
constexpr u32 usn_rename_old_name = 0x1000;
constexpr u32 usn_rename_new_name = 0x2000;
constexpr u32 usn_basic_info_change = 0x8000;

}  // namespace coldtrace::ntfs
