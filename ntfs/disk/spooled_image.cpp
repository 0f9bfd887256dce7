#include "coldtrace/ntfs/disk/spooled_image.hpp"

#include <utility>

#include <fmt/format.h>

namespace coldtrace::ntfs {

std::string spooled_origin(std::string_view packing) {
  return packing.empty() ? "from a pipe" : fmt::format("unpacked ({})", packing);
}

core::Expected<ImageFile, SpooledFailure> open_spooled_image(
    std::unique_ptr<core::ImageSource> bytes, std::string_view packing, core::Findings& findings,
    const std::vector<std::string>& parents) {
  const auto origin = spooled_origin(packing);
  const u64 size = bytes->size();
  auto opened = open_image(std::move(bytes), findings, parents);
  if (!opened)
    return core::fail(
        SpooledFailure{fmt::format("{}: {}", origin, opened.error()), opened.error()});
  auto file = std::move(*opened);
  if (file.unpacked == nullptr &&
      (core::is_virtual_disk(file.kind) || file.kind == core::FileKind::ewf))
    return core::fail(SpooledFailure{
        fmt::format("{} it is {}, which can only be read from a file: {} first", origin,
                    to_string(file.kind), packing.empty() ? "save it to a file" : "unpack it"),
        std::nullopt});
  if (!packing.empty() && file.unpacked == nullptr) file.container = packing;
  findings.info("image-spooled", std::nullopt, "{}, the image is a temporary file of {} bytes",
                origin, size);
  return file;
}

}  // namespace coldtrace::ntfs
