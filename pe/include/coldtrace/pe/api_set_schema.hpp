#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/image.hpp"

namespace coldtrace::pe {

// Which DLL stands behind an API set, for all importers or for one.
struct ApiSetHost {
  std::string importer;  // the importing DLL, lower case; empty: every other one
  std::string dll;       // empty: none on this system
};

// API_SET_NAMESPACE_ENTRY with its API_SET_VALUE_ENTRYs.
struct ApiSet {
  // Lower case, as far as it is compared: versions 2 and 4 keep neither "api-" nor "ext-", version
  // 6 leaves the number behind the last hyphen out.
  std::string name;
  std::vector<ApiSetHost> hosts;  // the first is for importers that have none of their own
};

// What a schema says of the name of an API set.
enum class ApiSetAnswer : u8 {
  host,     // a DLL stands behind it
  no_host,  // known, but no DLL of this system has it
  unknown,  // the schema does not have it
};

// The map in section ".apiset" of apisetschema.dll. Sources: the structures as Microsoft's public
// symbols give them (API_SET_NAMESPACE_ARRAY of Windows 8 and 8.1), for version 6 the descriptions
// of it by G. Chappell, "The API Set Schema", and WinDepends, apisetx.h. No real schema has
// confirmed this reader.
struct ApiSetSchema {
  u32 version = 0;           // 2: Windows 7 and 8, 4: 8.1, 6: 10 and later
  std::vector<ApiSet> sets;  // by name; of one name the first counts

  // What stands behind `name` ("api-ms-win-core-file-l1-2-0", with or without ".dll") when
  // `importer` ("kernel32.dll") imports it. `DLL` is set for ApiSetAnswer::host.
  ApiSetAnswer find(std::string_view name, std::string_view importer, std::string& dll) const;
};

// The schema in `section`, which lies at `offset` of the file. What leads out of the section is
// left out with a finding; no more is kept than a section of that size can hold.
core::Result<ApiSetSchema> read_api_set_schema(core::ByteView section, u64 offset,
                                               core::Findings& findings);

// The same of an image; nothing without a section ".apiset".
core::Result<std::optional<ApiSetSchema>> find_api_set_schema(const Image& image,
                                                              core::Findings& findings);

}  // namespace coldtrace::pe
