#include "coldtrace/pe/signature_check.hpp"

#include <algorithm>
#include <iterator>

namespace coldtrace::pe {

std::optional<bool> agrees(const ReadSignature& signature,
                           const std::optional<std::string>& file_digest) {
  if (!signature.digest || !file_digest) return std::nullopt;
  return *file_digest == *signature.digest;
}

void check_signature(const ReadSignature& signature, const std::optional<std::string>& file_digest,
                     core::Findings& findings) {
  constexpr u64 longest_padding = 7;  // of any bytes, to a multiple of eight; zeros may be more
  if (signature.problem)
    findings.warning("authenticode-unread", std::nullopt, "a signature: {}", *signature.problem);
  if (!signature.behind_is_zero && signature.bytes_behind > longest_padding)
    findings.warning("authenticode-behind", std::nullopt,
                     "{} bytes after a signature in its certificate are not covered by it",
                     signature.bytes_behind);
  if (signature.refuted)
    findings.warning(
        "authenticode-invalid", std::nullopt,
        "a signature does not match its digest and the certificate that comes with it");
  if (agrees(signature, file_digest) == false)
    findings.warning("authenticode-mismatch", std::nullopt,
                     "the signed {} digest is {}, the file's is {}", signature.digest_algorithm,
                     *signature.digest, *file_digest);
}

std::vector<Certificate> choose_signatures(const std::vector<Certificate>& certificates,
                                           core::Findings& findings) {
  constexpr std::size_t most = 64;
  std::vector<Certificate> signatures;
  std::ranges::copy_if(certificates, std::back_inserter(signatures), [](const auto& certificate) {
    return certificate.type == Certificate::pkcs_signed_data;
  });
  if (signatures.size() > most) {
    findings.warning("authenticode-limit", signatures[most].offset,
                     "{} signatures, of which the first {} are read", signatures.size(), most);
    signatures.resize(most);
  }
  return signatures;
}

}  // namespace coldtrace::pe
