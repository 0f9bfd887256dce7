#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/image_source.hpp"
#include "coldtrace/ntfs/assembly.hpp"
#include "coldtrace/ntfs/mft.hpp"
#include "coldtrace/ntfs/record_facts.hpp"
#include "coldtrace/ntfs/security.hpp"
#include "coldtrace/ntfs/structures/boot_sector.hpp"
#include "coldtrace/ntfs/structures/index.hpp"

namespace coldtrace::ntfs {

// The contents of $Volume. Source: linux-ntfs documentation, "$VOLUME_INFORMATION".
struct VolumeInformation {
  std::string label;
  bool label_valid = true;  // false: U+FFFD replaces unpaired surrogates
  u8 major_version = 0;
  u8 minor_version = 0;
  u16 flags = 0;
  [[nodiscard]] bool dirty() const { return (flags & 1) != 0; }
};

// A file of a volume with all its FILE records; owns the bytes that `facts` view.
struct File {
  RecordFacts facts;
  Assembly assembly;
  std::vector<std::vector<std::byte>> records;
};

// An NTFS volume in an image, or a $MFT that was copied out of one.
class Volume {
 public:
  struct Place {
    u64 offset = 0;  // where the volume starts
    u64 size = 0;    // the partition's, to find the backup boot sector
    // Without a usable boot sector, $MFT is searched for; the volume may then start later.
    bool anywhere = false;
    // For a partition of a table, whose entry may not begin where its volume does: the volume
    // starts where a copy of the boot sector in the last sector says, at or behind this byte.
    std::optional<u64> earliest = {};
    std::optional<u64> mft_offset = {};    // record 0 of $MFT is here; boot sectors are not read
    std::optional<u32> cluster_size = {};  // if no boot sector gives it
  };

  // `image` must outlive the volume.
  static core::Result<Volume> open(core::Borrowed<core::ImageSource> image, const Place& place,
                                   core::Findings& findings);
  static core::Result<Volume> open(core::Borrowed<core::ImageSource> image, u64 offset, u64 size,
                                   core::Findings& findings) {
    return open(image, Place{.offset = offset, .size = size}, findings);
  }
  // Of a $MFT that was copied out of its volume. Offsets are those of the file; `mft-only` says
  // what is not known: directory indexes, owners and places of clusters.
  static core::Result<Volume> open_extracted_mft(core::Borrowed<core::ImageSource> file,
                                                 core::Findings& findings);

  [[nodiscard]] const core::ImageSource& image() const { return *image_; }
  [[nodiscard]] const std::optional<BootSector>& boot() const {
    return boot_;
  }  // absent for a lone $MFT
  [[nodiscard]] const Mft& mft() const { return mft_; }
  [[nodiscard]] const std::optional<VolumeInformation>& information() const { return information_; }
  [[nodiscard]] u64 offset() const { return mft_.clusters().volume_offset; }

  // A file by its record number. The error says why there is none.
  core::Result<File> read_file(u64 record) const;

  // Owners by security id, from $Secure.
  [[nodiscard]] SecurityOwners read_security_owners(core::Findings& findings) const;

  // Clusters of the volume that are missing from the image; $Bitmap is not read for this.
  [[nodiscard]] u64 missing_bytes() const;

 private:
  Volume(const core::ImageSource& image, Mft mft) : image_{&image}, mft_{std::move(mft)} {}
  static core::Result<Volume> open(const core::ImageSource& image, const BootSector& boot,
                                   u64 offset, core::Findings& findings);
  static core::Result<Volume> search(const core::ImageSource& image, const Place& place,
                                     const core::ParseError& error, core::Findings& findings);
  // Returns why record 3 cannot be used.
  std::optional<core::ParseError> read_information();
  void note_no_information(const std::optional<core::ParseError>& unread,
                           core::Findings& findings) const;

  const core::ImageSource* image_;
  Mft mft_;
  std::optional<BootSector> boot_;
  std::optional<VolumeInformation> information_;
};

}  // namespace coldtrace::ntfs
