#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/certificates.hpp"

namespace coldtrace::pe {

// What a reader of PKCS #7 says of an Authenticode signature.
struct ReadSignature {
  std::optional<std::string> problem;  // why it could not be read to its end
  u64 bytes_behind = 0;                // it, in its certificate
  bool behind_is_zero = true;          // all of these
  bool refuted = false;                // it is not one of its digest by the certificate beside it
  std::string digest_algorithm;        // "sha256"
  std::optional<std::string> digest;   // that was signed, lower-case hex
};

// Whether the signature is of a file with this digest; nothing where either is not known.
[[nodiscard]] std::optional<bool> agrees(const ReadSignature& signature,
                                         const std::optional<std::string>& file_digest);

// Tells of a signature, beside the digest of the file by its algorithm, as `authenticode-unread`,
// `authenticode-behind` (what may be padding apart), `authenticode-invalid` and
// `authenticode-mismatch`.
void check_signature(const ReadSignature& signature, const std::optional<std::string>& file_digest,
                     core::Findings& findings);

// The certificates that are signatures; beyond 64 they are left out with the finding
// `authenticode-limit`.
[[nodiscard]] std::vector<Certificate> choose_signatures(
    const std::vector<Certificate>& certificates, core::Findings& findings);

}  // namespace coldtrace::pe
