#pragma once

#include <array>
#include <optional>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/image.hpp"

namespace coldtrace::pe {

// WIN_CERTIFICATE: one attached signature of a file. Source: Microsoft, "PE Format", attribute
// certificate table.
struct Certificate {
  static constexpr u16 pkcs_signed_data = 2;
  u16 revision;
  u16 type;
  u64 offset;  // of its data in the file
  u64 size;
};

// The place of the certificates according to the data directory.
struct CertificateTable {
  u64 offset;
  u64 size;
  u64 stored;  // those of them in the file; none in a dump
};

// Nothing: the file has no embedded signature.
[[nodiscard]] std::optional<CertificateTable> find_certificate_table(const Image& image);

// Empty without a table, and for a dump, which has none. Entries that do not fit are findings.
[[nodiscard]] std::vector<Certificate> read_certificates(const Image& image,
                                                         core::Findings& findings);

// The parts of a file that its Authenticode digest covers, in order: all except the checksum, the
// directory entry of the certificate table and this table. Source: Microsoft, "Windows Authenticode
// Portable Executable Signature Format". Some may be empty.
[[nodiscard]] std::array<core::ByteView, 4> authenticode_pieces(const Image& image);

}  // namespace coldtrace::pe
