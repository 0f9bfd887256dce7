#pragma once

#include <string>
#include <string_view>

#include "coldtrace/core/file_time.hpp"
#include "coldtrace/ntfs/journal/usn_names.hpp"

namespace coldtrace::cli {

// Values in the form of the tables of MFTECmd, which is written in C#.
// Source: MFTECmd 1.2 and its library MFT, as published.

// The names of flags as .NET writes a flags enumeration: the number if a bit has no name. The
// separator is "|".
std::string to_dotnet_flags(u32 bits, const std::vector<ntfs::UsnFlag>& flags);

// File attributes by that library's names.
std::string to_dotnet_attributes(u32 attributes);

// "2024-02-29 12:34:56.1234567"; empty for a time that is not set.
std::string to_dotnet_time(core::FileTime time);

// From the last dot on, as by Path.GetExtension.
std::string_view dotnet_extension(std::string_view name);

// "/a/b" becomes ".\a\b"; in an incomplete path, what stands for the missing directory becomes
// MFTECmd's words for that.
std::string to_mftecmd_directory(std::string_view directory, bool whole);

}  // namespace coldtrace::cli
