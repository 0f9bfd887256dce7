#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/result.hpp"

namespace coldtrace::schema_files {

// The file itself, or the regular files of a folder and of all folders below in the order of their
// paths. Links to folders are not followed, which rules out circles. What cannot be listed, and
// more files than are looked at, is a finding.
std::vector<std::string> list_files(const std::string& path, core::Findings& findings);

// The first bytes of a regular file; nothing of what is none, or cannot be read.
core::Result<std::vector<std::byte>> read_start(const std::string& path, std::size_t most);

// Of a file that cannot be opened what the operating system says, else where and what is wrong.
std::string reason_of(const core::ParseError& error);

}  // namespace coldtrace::schema_files
