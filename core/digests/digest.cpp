#include "coldtrace/digests/digest.hpp"

#include <nettle/nettle-meta.h>

#include "coldtrace/core/hex.hpp"

namespace coldtrace::digests {

Digest::Digest(const nettle_hash& hash)
    : hash_{&hash}, context_(hash.context_size / sizeof(std::max_align_t) + 1) {
  hash_->init(context_.data());
}

std::optional<Digest> Digest::make(std::string_view algorithm) {
  for (const auto* const hash :
       {&nettle_md5, &nettle_sha1, &nettle_sha256, &nettle_sha384, &nettle_sha512})
    if (algorithm == hash->name) return Digest{*hash};
  return std::nullopt;
}

void Digest::add(core::ByteView piece) {
  const void* const start = piece.data();
  hash_->update(context_.data(), piece.size(), static_cast<const std::uint8_t*>(start));
}

std::string Digest::take() {
  std::vector<std::uint8_t> digest(hash_->digest_size);
  hash_->digest(context_.data(), digest.size(), digest.data());
  return core::to_hex(std::as_bytes(std::span{digest}));
}

std::optional<std::string> compute_digest(std::string_view algorithm,
                                          std::span<const core::ByteView> pieces) {
  auto digest = Digest::make(algorithm);
  if (!digest) return std::nullopt;
  for (const auto piece : pieces) digest->add(piece);
  return digest->take();
}

}  // namespace coldtrace::digests
