#pragma once

#include <array>
#include <optional>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/image.hpp"

namespace coldtrace::pe {

// WIN_CERTIFICATE: one of what is attached to a file to sign it. Source: Microsoft, "PE Format",
// attribute certificate table.
struct Certificate {
  static constexpr u16 pkcs_signed_data = 2;
  u16 revision;
  u16 type;
  u64 offset;  // of its data in the file
  u64 size;
};

// Where the data directory says that the certificates are.
struct CertificateTable {
  u64 offset;
  u64 size;
  u64 stored;  // of these the file has; none in a dump
};

// Nothing: the file has no signature in itself.
[[nodiscard]] std::optional<CertificateTable> find_certificate_table(const Image& image);

// Empty without a table, and for a dump, which has none. Entries that do not fit are findings.
[[nodiscard]] std::vector<Certificate> read_certificates(const Image& image,
                                                         core::Findings& findings);

// The pieces of a file that its Authenticode digest is of, in order: all but the checksum, the
// place of the certificate table and this table. Source: Microsoft, "Windows Authenticode Portable
// Executable Signature Format". Some may be empty.
[[nodiscard]] std::array<core::ByteView, 4> authenticode_pieces(const Image& image);

}  // namespace coldtrace::pe
