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

// A digest of bytes that come piece by piece.
class Digest {
 public:
  // Nothing where the algorithm is none of md5, sha1, sha256, sha384 and sha512.
  [[nodiscard]] static std::optional<Digest> make(std::string_view algorithm);

  void add(core::ByteView piece);
  // In lower-case hexadecimal; begins anew.
  [[nodiscard]] std::string take();

 private:
  explicit Digest(const nettle_hash& hash);

  const nettle_hash* hash_;
  std::vector<std::max_align_t> context_;
};

// The digest of these pieces one behind the other, in lower-case hexadecimal; nothing where the
// algorithm is none of md5, sha1, sha256, sha384 and sha512.
[[nodiscard]] std::optional<std::string> compute_digest(std::string_view algorithm,
                                                        std::span<const core::ByteView> pieces);

}  // namespace coldtrace::digests
