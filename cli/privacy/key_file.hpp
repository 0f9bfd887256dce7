#pragma once

#include <string>
#include <vector>

#include "coldtrace/privacy/sealed_bytes.hpp"

namespace coldtrace::cli {

// All bytes of a file with a secret; throws Failure if it is not a key: fewer than 16 bytes or more
// than 4,096.
std::vector<std::byte> read_key_file(const std::string& path);

// A key of 32 bytes from such a file.
privacy::SealingKey read_sealing_key(const std::string& path);

}  // namespace coldtrace::cli
