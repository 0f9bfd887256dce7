#pragma once

#include <memory>
#include <optional>
#include <span>

#include "coldtrace/core/reader.hpp"

namespace coldtrace::ntfs {

// Decrypts the sectors of a BitLocker volume. Safe to use from several threads at once.
class SectorCipher {
 public:
  // Nothing if the method is not known, or the key is too short for it.
  static std::optional<SectorCipher> create(u16 method, core::ByteView key, u32 sector_size);
  SectorCipher(SectorCipher&&) noexcept;
  SectorCipher& operator=(SectorCipher&&) noexcept;
  ~SectorCipher();

  // Decrypts whole sectors in place, the first of which is at byte `offset` of the volume.
  void decrypt(u64 offset, std::span<std::byte> sectors) const;

 private:
  struct Keys;
  SectorCipher(std::unique_ptr<Keys> keys, u32 sector_size);

  std::unique_ptr<Keys> keys_;
  u32 sector_size_;
};

}  // namespace coldtrace::ntfs
