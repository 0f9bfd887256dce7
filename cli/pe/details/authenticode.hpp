#pragma once

#include <vector>

#include "cli/pe/details/json_text.hpp"

namespace coldtrace::pe_details {

// Writes one object for the signature in `bytes`, a PKCS #7 SignedData, and one for each nested in
// it. Certificates are not checked for trust: no list of roots is known here. Source: Microsoft,
// "Windows Authenticode Portable Executable Signature Format".
void write_signatures(Writer& json, unsigned certificate, const unsigned char* bytes,
                      std::size_t size);

}  // namespace coldtrace::pe_details
