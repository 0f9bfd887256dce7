#pragma once

#include <memory>
#include <optional>
#include <string>

#include "coldtrace/core/image_source.hpp"
#include "coldtrace/core/result.hpp"

namespace coldtrace::cli {

// Standard input ("-") or a named pipe.
bool is_pipe(const std::string& path);

// A file to read at offsets: what comes from a pipe goes to a temporary file, of at most `limit`
// bytes or 64 GiB.
core::Result<std::unique_ptr<core::ImageSource>> open_text_input(
    const std::string& path, std::optional<u64> limit = std::nullopt);

}  // namespace coldtrace::cli
