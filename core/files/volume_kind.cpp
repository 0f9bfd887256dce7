#include <bit>

#include "coldtrace/core/file_kind.hpp"
#include "coldtrace/core/reader.hpp"
#include "core/files/signature.hpp"

namespace coldtrace::core {
namespace {

using namespace std::string_view_literals;

using Signature = SignatureOf<FileKind>;

constexpr u64 sector_size = 512;

// By what stands in the first three sectors. Each format's own specification; the GUIDs of
// BitLocker To Go, 4967d63b-2e29-4ad8-8399-f6a339e3d001, and while it encrypts in pieces,
// 92a84d3b-dd80-4d0e-9e4e-b1e3284eaed8, are those of libbde's documentation.
constexpr std::array signatures = {
    Signature{FileKind::ntfs_volume, 3, "NTFS    "sv},
    Signature{FileKind::bitlocker_volume, 3, "-FVE-FS-"sv},
    Signature{FileKind::bitlocker_volume, 0x1a8,
              "\x3b\xd6\x67\x49\x29\x2e\xd8\x4a\x83\x99\xf6\xa3\x39\xe3\xd0\x01"sv},
    Signature{FileKind::bitlocker_volume, 0x1a8,
              "\x3b\x4d\xa8\x92\x80\xdd\x0e\x4d\x9e\x4e\xb1\xe3\x28\x4e\xae\xd8"sv},
    Signature{FileKind::refs_volume, 3, "ReFS"sv},
    Signature{FileKind::exfat_volume, 3, "EXFAT   "sv},
    Signature{FileKind::fat_volume, 0x36, "FAT"sv},
    Signature{FileKind::fat_volume, 0x52, "FAT32"sv},
    Signature{FileKind::xfs_volume, 0, "XFSB"sv},
    Signature{FileKind::luks_volume, 0, "LUKS\xba\xbe"sv},
    Signature{FileKind::apfs_volume, 32, "NXSB"sv},
    Signature{FileKind::lvm_volume, 512, "LABELONE"sv},
    Signature{FileKind::hfs_volume, 1024, "H+\0\x04"sv},
    Signature{FileKind::hfs_volume, 1024, "HX\0\x05"sv},
};

bool is_size(std::optional<u32> bytes, u32 least) {
  return bytes && std::has_single_bit(*bytes) && *bytes >= least && *bytes <= 65536;
}

// Few bytes over the boot sector of another volume make none of the kind: fields beside them must
// fit. The parameters of an NTFS volume never do.
bool fits(FileKind kind, ByteView head) {
  switch (kind) {
    case FileKind::refs_volume:  // libfsrefs, "Resilient File System": FSRS
      return matches(head, 0x10, "FSRS"sv);
    case FileKind::exfat_volume:  // exFAT specification 3.1.3: MustBeZero
      return is_zero(slice(head, 11, 53).value_or(head));
    case FileKind::fat_volume:  // FAT specification 3.1: BPB_RsvdSecCnt, BPB_NumFATs
      return load<u16>(head, 14) != u16{0} && load<u8>(head, 16) != u8{0};
    case FileKind::xfs_volume:  // XFS Algorithms & Data Structures: sb_blocksize, sb_sectsize
      return is_size(load_big<u32>(head, 4), 512) && is_size(load_big<u16>(head, 0x66), 512);
    case FileKind::luks_volume:  // the two versions of its specification
      return load_big<u16>(head, 6) == 1U || load_big<u16>(head, 6) == 2U;
    case FileKind::apfs_volume:  // Apple File System Reference: nx_block_size
      return is_size(load<u32>(head, 36), 4096);
    default:
      return true;
  }
}

// The magic number of a superblock is short, and boot code may hold it: other fields must fit.
bool is_ext(ByteView head) {
  const auto superblock = Fields<0x50>::at(head, 1024);
  return superblock && superblock->get<u16, 0x38>() == 0xef53 &&
         superblock->get<u32, 0x18>() <= 6 && superblock->get<u32, 0x48>() <= 4 &&
         superblock->get<u32, 0x4c>() <= 1;
}

}  // namespace

FileKind recognize_volume(ByteView head) {
  for (const auto& signature : signatures)
    if (matches(head, signature.offset, signature.bytes) && fits(signature.kind, head))
      return signature.kind;
  if (is_ext(head)) return FileKind::ext_volume;
  return is_zero(head.first(std::min<u64>(head.size(), sector_size))) ? FileKind::zeros
                                                                      : FileKind::unknown;
}

}  // namespace coldtrace::core
