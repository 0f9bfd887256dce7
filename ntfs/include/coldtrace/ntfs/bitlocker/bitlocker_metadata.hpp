#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/file_time.hpp"
#include "coldtrace/core/guid.hpp"
#include "coldtrace/core/image_source.hpp"

namespace coldtrace::ntfs {

// BitLocker: a volume whose sectors are encrypted with one key. Metadata, of which the volume has
// three copies, contains that key, encrypted with the volume's master key, which each protector can
// provide. Sources: libbde, "BitLocker Drive Encryption (BDE) format", 0.0.16; checksums, states
// and bitmaps of volumes that are being encrypted: cryptsetup (lib/bitlk) and dissect.fve, and
// observations on the images that both publish.

// Kinds of protectors are flags.
namespace bitlocker_protector {
constexpr u16 clear_key = 0;
constexpr u16 startup_key = 0x0200;
constexpr u16 recovery_password = 0x0800;
constexpr u16 password = 0x2000;
}  // namespace bitlocker_protector

// One way to the volume's master key: a password, a recovery key, a startup key, a clear key.
struct BitLockerProtector {
  core::Guid id;
  core::FileTime changed;
  u16 kind;
  std::vector<std::byte> properties;  // datums that provide the master key
};

// "recovery password", "TPM and PIN", or "0x4000".
[[nodiscard]] std::string protector_name(u16 kind);

// "AES-XTS 128-bit"; nothing if the method is unknown.
[[nodiscard]] std::string_view encryption_name(u16 method);

// Which parts of a volume are encrypted while Windows encrypts it piece by piece: one bit per
// chunk.
struct BitLockerBitmap {
  core::ByteRange region;  // of the volume
  std::vector<std::byte> bits;
  u64 bit_count;
};

// What one copy of the FVE metadata says about a volume.
struct BitLockerMetadata {
  static constexpr u16 state_decrypted = 1;
  static constexpr u16 state_dirty = 2;  // stopped while it moved what `converted` covers
  static constexpr u16 state_encrypted = 4;

  core::ByteRange volume;  // in the image
  bool to_go = false;
  u16 version = 2;  // 1: Windows Vista
  u16 state = 0;
  u32 sector_size = 512;
  core::Guid id;
  core::FileTime created;
  u16 method = 0;
  std::string description;
  u64 encrypted_end = 0;   // the rest is not encrypted; 0: everything is
  core::ByteRange header;  // where the first sectors are stored
  u64 mft_mirror = 0;      // version 1: the cluster from the boot sector
  std::vector<BitLockerProtector> protectors;
  std::vector<std::byte> volume_key;   // encrypted with the master key
  std::vector<std::byte> check;        // the hash of the metadata, encrypted with the master key
  std::array<std::byte, 32> hash{};    // of this metadata
  std::vector<core::ByteRange> zeros;  // of the volume: shown as zeros, as by Windows
  u64 chunk_size = 0;
  std::vector<BitLockerBitmap> bitmaps;  // by region

  [[nodiscard]] bool decrypted() const { return state == state_decrypted; }
};

}  // namespace coldtrace::ntfs
