#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/reader.hpp"

struct nettle_hash;

namespace coldtrace::digests {

// A digest of bytes that arrive in pieces.
class Digest {
 public:
  // Nothing unless the algorithm is md5, sha1, sha256, sha384 or sha512.
  [[nodiscard]] static std::optional<Digest> make(std::string_view algorithm);

  void add(core::ByteView piece);
  // The digest in lower-case hexadecimal; starts a new one.
  [[nodiscard]] std::string take();

 private:
  explicit Digest(const nettle_hash& hash);

  const nettle_hash* hash_;
  std::vector<std::max_align_t> context_;
};

// The digest of the concatenated pieces, in lower-case hexadecimal; nothing unless the algorithm is
// md5, sha1, sha256, sha384 or sha512.
[[nodiscard]] std::optional<std::string> compute_digest(std::string_view algorithm,
                                                        std::span<const core::ByteView> pieces);

}  // namespace coldtrace::digests
