#include "coldtrace/pe/certificates.hpp"

#include <algorithm>

#include "coldtrace/core/reader.hpp"
#include "coldtrace/core/unreadable.hpp"

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

std::optional<CertificateTable> find_certificate_table(const Image& image) {
  const auto& [address, size] = image.directory(Directory::certificates);
  const u64 start = value(address);
  if (start == 0 || size == 0) return std::nullopt;
  if (image.layout() == Layout::memory) return CertificateTable{start, size, 0};
  const u64 file_size = image.file().size();
  return CertificateTable{start, size, std::min<u64>(size, file_size - std::min(start, file_size))};
}

std::vector<Certificate> read_certificates(const Image& image, core::Findings& findings) {
  const core::UnreadableNote note{image.file(), findings};
  std::vector<Certificate> certificates;
  const auto table = find_certificate_table(image);
  if (!table || image.layout() == Layout::memory) return certificates;
  const bool is_cut = table->stored < table->size;
  if (is_cut)
    findings.warning("certificate-table", table->offset,
                     "a certificate table of {:#x} bytes, of which the file has {:#x}", table->size,
                     table->stored);
  constexpr u64 header_size = 8;
  constexpr u64 alignment = 8;
  for (u64 at = 0; at < table->stored;) {
    const u64 left = table->stored - at;
    const auto bytes = image.file().clip(table->offset + at, std::min(left, header_size));
    const auto header = core::Fields<header_size>::at(bytes, 0);
    const u64 length = header ? header->get<u32, 0>() : 0;
    const auto rest = length == 0 ? image.file().slice(table->offset + at, left) : std::nullopt;
    if (rest && core::is_zero(*rest)) break;  // padding
    // What was cut off is said once.
    if (is_cut && (!header || (length > left && length <= table->size - at))) break;
    if (length < header_size || length > left) {
      findings.warning("certificate-table", table->offset + at,
                       "a certificate of {:#x} bytes where {:#x} are left", length, left);
      break;
    }
    certificates.push_back({header->get<u16, 4>(), header->get<u16, 6>(),
                            table->offset + at + header_size, length - header_size});
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
