#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/image_source.hpp"
#include "coldtrace/core/result.hpp"
#include "coldtrace/ntfs/disk/image_file.hpp"

namespace coldtrace::ntfs {

// Why an image from elsewhere is not read.
struct SpooledFailure {
  std::string text;
  std::optional<core::ParseError> error;  // nothing if it is of a kind that needs a file
};

// "unpacked (gzip)"; "from a pipe" if it is not compressed.
[[nodiscard]] std::string spooled_origin(std::string_view packing);

// Opens an image whose bytes were decompressed or read from a pipe into a temporary file, which the
// finding `image-spooled` reports; its container is the compression if it has no other. A virtual
// machine disk or an E01 image that cannot be opened by the path of its bytes is refused.
[[nodiscard]] core::Expected<ImageFile, SpooledFailure> open_spooled_image(
    std::unique_ptr<core::ImageSource> bytes, std::string_view packing, core::Findings& findings,
    const std::vector<std::string>& parents);

}  // namespace coldtrace::ntfs
