#pragma once

#include <string>
#include <string_view>

#include "coldtrace/core/file_time.hpp"
#include "coldtrace/ntfs/journal/usn_names.hpp"

namespace coldtrace::cli {

// Values as the tables of MFTECmd have them, which is written in C#.
// Source: MFTECmd 1.2 and its library MFT, as published.

// The names of flags as .NET writes an enumeration of flags: the number where a bit has no name.
// The separator is "|".
std::string to_dotnet_flags(u32 bits, const std::vector<ntfs::UsnFlag>& flags);

// File attributes by the names of that library.
std::string to_dotnet_attributes(u32 attributes);

// "2024-02-29 12:34:56.1234567"; empty for a time that is not set.
std::string to_dotnet_time(core::FileTime time);

// From the last dot on, as Path.GetExtension has it.
std::string_view dotnet_extension(std::string_view name);

// "/a/b" becomes ".\a\b"; where it is not whole, what stands for the missing directory becomes the
// words that it has for that.
std::string to_mftecmd_directory(std::string_view directory, bool whole);

}  // namespace coldtrace::cli
