#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/reader.hpp"

namespace coldtrace::pe {

using VersionNumber = std::array<u16, 4>;  // major first

// "6.1.7601.17514"
[[nodiscard]] std::string to_string(const VersionNumber& version);

// VS_FIXEDFILEINFO, the relevant fields; 52 bytes.
struct FixedVersion {
  VersionNumber file;
  VersionNumber product;
  u32 flags;  // 1 debug, 2 prerelease, 4 patched, 8 private build, 0x20 special build
  u32 type;   // 1 application, 2 DLL, 3 driver
};

// A string of a StringTable of VS_VERSIONINFO, in exact text (coldtrace/core/utf16.hpp).
struct VersionString {
  std::string language;  // eight hexadecimal digits: LANGID and code page, "040904b0"
  std::string key;       // "OriginalFilename"
  std::string value;
};

// A version resource. Source: Windows SDK, VS_VERSIONINFO and its children.
struct VersionInfo {
  std::optional<FixedVersion> fixed;
  std::vector<VersionString> strings;

  // The first string with that key; empty if there is none.
  [[nodiscard]] std::string_view find(std::string_view key) const;
};

// Reads the resource at `offset` of the file. A node whose length does not fit ends the list that
// contains it, with a finding.
[[nodiscard]] VersionInfo read_version_info(core::ByteView bytes, u64 offset,
                                            core::Findings& findings);

}  // namespace coldtrace::pe
