#include "pe/directories/certificates.hpp"

#include <algorithm>

namespace coldtrace::pe {
namespace {

constexpr u64 checksum_size = 4;
constexpr u64 directory_size = 8;

// Where the data directory has the place of the certificate table.
u64 place_of_table(const OptionalHeader& header) {
  constexpr u64 from_checksum_32 = 32;  // 96 - 64, the offsets in the optional header
  constexpr u64 from_checksum_64 = 48;
  return header.checksum_offset + (header.pe32_plus ? from_checksum_64 : from_checksum_32) +
         static_cast<u64>(Directory::certificates) * directory_size;
}

}  // namespace

std::vector<Certificate> read_certificates(const Image& image, core::Findings& findings) {
  std::vector<Certificate> certificates;
  const auto& [address, size] = image.directory(Directory::certificates);
  if (value(address) == 0 || size == 0 || image.layout() == Layout::memory) return certificates;
  const u64 start = value(address);
  const auto table = image.file().clip(start, size);
  if (table.size() < size)
    findings.warning("certificate-table", start,
                     "a certificate table of {:#x} bytes, of which the file has {:#x}", size,
                     table.size());
  constexpr u64 header_size = 8;
  constexpr u64 alignment = 8;
  for (u64 at = 0; at < table.size();) {
    const auto header = core::Fields<header_size>::at(table, at);
    const u64 length = header ? header->get<u32, 0>() : 0;
    if (length < header_size || length > table.size() - at) {
      findings.warning("certificate-table", start + at,
                       "a certificate of {:#x} bytes where {:#x} are left", length,
                       table.size() - at);
      break;
    }
    certificates.push_back({header->get<u16, 4>(), header->get<u16, 6>(), start + at + header_size,
                            length - header_size});
    at += (length + alignment - 1) / alignment * alignment;
  }
  return certificates;
}

std::array<core::ByteView, 4> authenticode_pieces(const Image& image) {
  const auto& file = image.file();
  const auto& [address, size] = image.directory(Directory::certificates);
  const auto between = [&](u64 from, u64 to) {
    return from < to ? file.clip(from, to - from) : core::ByteView{};
  };
  const u64 checksum = image.optional_header().checksum_offset;
  const u64 place = place_of_table(image.optional_header());
  const bool is_signed = value(address) != 0 && size != 0;
  const u64 table = is_signed ? std::max<u64>(value(address), place + directory_size) : file.size();
  return {between(0, checksum), between(checksum + checksum_size, place),
          between(place + directory_size, std::min(table, file.size())),
          between(table + (is_signed ? size : 0), file.size())};
}

}  // namespace coldtrace::pe
