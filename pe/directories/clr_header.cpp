#include "coldtrace/pe/clr_header.hpp"

#include "coldtrace/core/text.hpp"

namespace coldtrace::pe {
namespace {

// Source: ECMA-335, II.24.2.1, metadata root.
std::string_view read_metadata_version(const Image& image, Rva root) {
  constexpr u32 signature = 0x424a'5342;  // BSJB
  constexpr u64 header_size = 16;
  constexpr u32 longest_version = 256;  // 255 with the NUL, in a multiple of four
  const auto header = core::Fields<header_size>::at(image.bytes(root, header_size), 0);
  if (!header || header->get<u32, 0>() != signature) return {};
  const auto length = header->get<u32, 12>();
  if (length > longest_version) return {};
  const auto text = core::to_chars(image.bytes(root + header_size, length));
  return text.substr(0, text.find('\0'));
}

}  // namespace

core::Result<std::optional<ClrHeader>> read_clr_header(const Image& image) {
  const auto& [address, size] = image.directory(Directory::clr_header);
  if (value(address) == 0 || size == 0) return std::nullopt;
  constexpr u64 read_size = 20;
  core::Reader in{image.bytes(address, read_size), "IMAGE_COR20_HEADER",
                  image.offset_of(Directory::clr_header)};
  ClrHeader header{};
  in.skip(4, "cb");
  header.major_runtime_version = in.read_u16("MajorRuntimeVersion");
  header.minor_runtime_version = in.read_u16("MinorRuntimeVersion");
  const Rva metadata{in.read_u32("MetaData.VirtualAddress")};
  in.skip(4, "MetaData.Size");
  header.flags = in.read_u32("Flags");
  if (!in.ok()) return core::fail(in.error());
  header.metadata_version = read_metadata_version(image, metadata);
  return header;
}

}  // namespace coldtrace::pe
