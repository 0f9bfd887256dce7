#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace coldtrace::pe_details {

// Where the file has a signature; not trusted in any way.
struct CertificatePlace {
  std::uint64_t offset;
  std::uint64_t size;
};

// {"signatures","refused","tls","resources"} of a PE image: signatures as read by OpenSSL, tables
// as read by LIEF, unless it refused the image; see docs/commands/pe.md.
std::string describe(const std::vector<std::uint8_t>& image,
                     const std::vector<CertificatePlace>& certificates);

}  // namespace coldtrace::pe_details
