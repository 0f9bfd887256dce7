#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/image.hpp"

namespace coldtrace::pe {

// The DLL that implements an API set, for all importers or for one. Names of schemas are exact text
// (core/utf16.hpp).
struct ApiSetHost {
  std::string importer;  // the importing DLL, lower case; empty: every other one
  std::string dll;       // empty: none on this system
};

// API_SET_NAMESPACE_ENTRY with its API_SET_VALUE_ENTRYs.
struct ApiSet {
  // Lower case, only the compared part: versions 2 and 4 have neither "api-" nor "ext-", version 6
  // leaves out the number after the last hyphen.
  std::string name;
  std::vector<ApiSetHost> hosts;  // the first is for importers that have none of their own
};

// The answer of a schema for the name of an API set.
enum class ApiSetAnswer : u8 {
  host,     // a DLL implements it
  no_host,  // known, but no DLL of this system implements it
  unknown,  // it is not in the schema
};

// The map in section ".apiset" of apisetschema.dll. Sources: the structures from Microsoft's public
// symbols (API_SET_NAMESPACE_ARRAY of Windows 8 and 8.1); for version 6, its descriptions by G.
// Chappell, "The API Set Schema", and WinDepends, apisetx.h. No real schema has confirmed this
// reader.
struct ApiSetSchema {
  u32 version = 0;           // 2: Windows 7 and 8, 4: 8.1, 6: 10 and later
  std::vector<ApiSet> sets;  // by name; of several with one name, the first is used

  // The implementation of `name` ("api-ms-win-core-file-l1-2-0", with or without ".dll") when
  // `importer` ("kernel32.dll") imports it. `DLL` is set for ApiSetAnswer::host.
  ApiSetAnswer find(std::string_view name, std::string_view importer, std::string& dll) const;
};

// The schema in `section`, which lies at `offset` of the file. References out of the section are
// left out with a finding; no more is kept than a section of that size can hold.
core::Result<ApiSetSchema> read_api_set_schema(core::ByteView section, u64 offset,
                                               core::Findings& findings);

// The same for an image; nothing without a section ".apiset".
core::Result<std::optional<ApiSetSchema>> find_api_set_schema(const Image& image,
                                                              core::Findings& findings);

}  // namespace coldtrace::pe
