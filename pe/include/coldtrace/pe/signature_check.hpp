#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/certificates.hpp"

namespace coldtrace::pe {

// An Authenticode signature as a PKCS #7 reader reports it.
struct ReadSignature {
  std::optional<std::string> problem;  // why it could not be read completely
  u64 bytes_behind = 0;                // after it, in its certificate
  bool behind_is_zero = true;          // whether all of these are zero
  bool refuted = false;  // it is not a signature of its digest by the accompanying certificate
  std::string digest_algorithm;       // "sha256"
  std::optional<std::string> digest;  // that was signed, lower-case hex
};

// Whether the signature is for a file with this digest; nothing if either is unknown.
[[nodiscard]] std::optional<bool> agrees(const ReadSignature& signature,
                                         const std::optional<std::string>& file_digest);

// Reports a signature, given the digest of the file by its algorithm, as `authenticode-unread`,
// `authenticode-behind` (except possible padding), `authenticode-invalid` and
// `authenticode-mismatch`.
void check_signature(const ReadSignature& signature, const std::optional<std::string>& file_digest,
                     core::Findings& findings);

// The certificates that are signatures; those beyond 64 are left out with the finding
// `authenticode-limit`.
[[nodiscard]] std::vector<Certificate> choose_signatures(
    const std::vector<Certificate>& certificates, core::Findings& findings);

}  // namespace coldtrace::pe
