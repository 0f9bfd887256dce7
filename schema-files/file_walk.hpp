#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/result.hpp"

namespace coldtrace::schema_files {

// The file itself, or the regular files of a folder and of all folders below it, sorted by path.
// Links to folders are not followed, which rules out loops. A folder that cannot be listed is a
// finding, and so are more files than coldtrace looks at.
std::vector<std::string> list_files(const std::string& path, core::Findings& findings);

// The first bytes of a file, up to `most`; fails if it cannot be opened or read.
core::Result<std::vector<std::byte>> read_start(const std::string& path, std::size_t most);

// The operating system's message for a file that cannot be opened, else what is wrong, and where.
std::string reason_of(const core::ParseError& error);

}  // namespace coldtrace::schema_files
