#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/file_kind.hpp"
#include "coldtrace/core/image_source.hpp"
#include "coldtrace/core/result.hpp"

namespace coldtrace::cli {

// Standard input ("-") or a named pipe.
bool is_pipe(const std::string& path);

// A file, or what a pipe has delivered.
struct GivenInput {
  std::string path;
  std::unique_ptr<core::ImageSource> piped;  // null: a file
};

// A file to be read at offsets: the contents of a pipe go to a temporary file, of at most `limit`
// bytes or 64 GiB.
core::Result<std::unique_ptr<core::ImageSource>> open_text_input(
    const std::string& path, std::optional<u64> limit = std::nullopt);

// The contents of a packed file of this kind, if it is one file of at most `most` bytes. Fails with
// a sentence that calls that file `wanted` ("a hook table").
core::Expected<std::unique_ptr<core::ImageSource>, std::string> unpack_single(
    const core::ImageSource& packed, core::FileKind kind, u64 most, std::string_view wanted);

// A file of at most `most` bytes, unpacked as above if it is packed.
core::Expected<std::vector<std::byte>, std::string> read_unpacked(const core::ImageSource& file,
                                                                  u64 most,
                                                                  std::string_view wanted);
core::Expected<std::vector<std::byte>, std::string> read_unpacked(const std::string& path, u64 most,
                                                                  std::string_view wanted);

}  // namespace coldtrace::cli
