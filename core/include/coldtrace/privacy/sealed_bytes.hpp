#pragma once

#include <array>
#include <optional>
#include <vector>

#include "coldtrace/core/reader.hpp"

namespace coldtrace::privacy {

// Bytes encrypted and authenticated with AES-256-GCM (NIST SP 800-38D), without further data: 12
// bytes of a nonce, which no two of one key may share, the encrypted bytes, 16 bytes of a tag.
constexpr std::size_t sealing_key_size = 32;
constexpr std::size_t seal_nonce_size = 12;
constexpr std::size_t seal_tag_size = 16;

using SealingKey = std::array<std::byte, sealing_key_size>;

// A number for a key, to be told apart by: the first four bytes, little-endian, of SHA-256 of it.
[[nodiscard]] u32 sealing_key_id(const SealingKey& key);

// Nonce, encrypted bytes and tag.
[[nodiscard]] std::vector<std::byte> seal(const SealingKey& key,
                                          const std::array<std::byte, seal_nonce_size>& nonce,
                                          core::ByteView bytes);

// Nothing where they are not sealed with this key, or were changed since.
[[nodiscard]] std::optional<std::vector<std::byte>> unseal(const SealingKey& key,
                                                           core::ByteView sealed);

}  // namespace coldtrace::privacy
