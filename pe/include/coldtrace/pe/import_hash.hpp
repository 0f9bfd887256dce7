#pragma once

#include <optional>
#include <string>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/image.hpp"

namespace coldtrace::pe {

// The text whose MD5 is an image's import hash: "kernel32.heapalloc,ws2_32.accept", in the order of
// the file, without delayed imports. An ordinal of ws2_32, wsock32 or oleaut32 is replaced with the
// name in old versions of these DLLs, any other is "ord12". Nothing without imports. Sources:
// Mandiant, "Tracking Malware with Import Hashing"; for extensions and ordinals pefile, which
// defined it and keeps to these tables.
[[nodiscard]] std::optional<std::string> import_hash_text(const Image& image,
                                                          core::Findings& findings);

}  // namespace coldtrace::pe
