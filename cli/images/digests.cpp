#include "cli/images/digests.hpp"

#include <vector>

#include <nettle/nettle-meta.h>

#include "coldtrace/core/hex.hpp"

namespace coldtrace::cli {

std::optional<std::string> compute_digest(std::string_view algorithm,
                                          std::span<const core::ByteView> pieces) {
  for (const auto* const hash :
       {&nettle_md5, &nettle_sha1, &nettle_sha256, &nettle_sha384, &nettle_sha512}) {
    if (algorithm != hash->name) continue;
    std::vector<std::max_align_t> context(hash->context_size / sizeof(std::max_align_t) + 1);
    hash->init(context.data());
    for (const auto piece : pieces) {
      const void* const start = piece.data();
      hash->update(context.data(), piece.size(), static_cast<const std::uint8_t*>(start));
    }
    std::vector<std::uint8_t> digest(hash->digest_size);
    hash->digest(context.data(), digest.size(), digest.data());
    return core::to_hex(std::as_bytes(std::span{digest}));
  }
  return std::nullopt;
}

}  // namespace coldtrace::cli
