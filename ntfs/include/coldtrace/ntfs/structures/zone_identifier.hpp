#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "coldtrace/core/reader.hpp"
#include "coldtrace/ntfs/structures/stored_text.hpp"

namespace coldtrace::ntfs {

// The origin of a file, as stored by the program that downloaded it: the stream "Zone.Identifier",
// an INI file with the section [ZoneTransfer]. Source: [MS-FSCC] 5.6.1, "Zone.Identifier Stream
// Name"; HostUrl and ReferrerUrl as browsers write them on Windows 10.
struct ZoneIdentifier {
  bool resident = true;  // false: it lies outside the record, and is not read
  std::optional<u32>
      zone;          // URLZONE: 0 local machine, 1 intranet, 2 trusted, 3 internet, 4 untrusted
  std::string text;  // all of it, as valid UTF-8
  std::optional<std::string> referrer_url;  // valid UTF-8
  std::optional<std::string> host_url;
};

// Whether the name is that of the stream, case-insensitive.
[[nodiscard]] bool is_zone_identifier(StoredText name);

// Takes the first value of each key. Text is UTF-8, or UTF-16LE after its byte order mark; U+FFFD
// replaces what is neither. A file that is not an INI file gives no values.
[[nodiscard]] ZoneIdentifier read_zone_identifier(core::ByteView value);

}  // namespace coldtrace::ntfs
