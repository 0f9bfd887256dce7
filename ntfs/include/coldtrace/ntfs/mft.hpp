#pragma once

#include <map>
#include <span>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/image_source.hpp"
#include "coldtrace/ntfs/extents.hpp"
#include "coldtrace/ntfs/gap.hpp"
#include "coldtrace/ntfs/record_facts.hpp"
#include "coldtrace/ntfs/structures/boot_sector.hpp"
#include "coldtrace/ntfs/structures/fixup.hpp"

namespace coldtrace::ntfs {

// The Master File Table: the place of each FILE record.
class Mft {
 public:
  // Finds all extents, including those that only extension records contain. Uses $MFTMirr if record
  // 0 is unusable.
  static core::Result<Mft> open(const core::ImageSource& image, const BootSector& boot,
                                u64 volume_offset, core::Findings& findings);

  // Compares the first records with their copies in $MFTMirr, which from now on replace unusable
  // records.
  void use_mirror(const core::ImageSource& image, Lcn mirror, core::Findings& findings);

  // A $MFT that was copied out of its volume: record n is n records into the file. A file with
  // fewer bytes than its record 0 says is a warning; of a longer one, what begins with zeros after
  // that size is left out.
  static core::Result<Mft> open_extracted(const core::ImageSource& file, core::Findings& findings);

  [[nodiscard]] u64 record_count() const { return record_count_; }
  // Records from the first to the last that may be outside a hole of a sparse file.
  [[nodiscard]] u64 stored_count() const { return stored_count_; }
  [[nodiscard]] u64 valid_count() const {
    return valid_count_;
  }  // records from here on do not count yet
  // The records that are missing behind those which can be read, because the extents of $MFT or the
  // file with its copy end before them. Their number is what record 0 states, and their place is
  // that of record 0; a file that ends in the middle of a record lacks at least this one.
  [[nodiscard]] const std::optional<Gap>& unmapped() const { return unmapped_; }
  [[nodiscard]] bool extracted() const { return extracted_; }
  [[nodiscard]] u32 record_size() const { return record_size_; }
  [[nodiscard]] const ClusterMap& clusters() const { return clusters_; }
  [[nodiscard]] std::span<const Extent> extents() const { return extents_; }

  // The byte of the image at which a record starts.
  [[nodiscard]] std::optional<u64> offset_of(u64 record) const;

  // Reads stored records, or their copies, without undoing fixups: as many as fit in `destination`.
  core::Result<core::Done> read_raw(const core::ImageSource& image, u64 first,
                                    std::span<std::byte> destination) const;

  // Reads one record, undoes its fixups and reads its facts into `facts`, which view `buffer`.
  core::Result<core::Done> read(const core::ImageSource& image, u64 record,
                                std::vector<std::byte>& buffer, RecordFacts& facts) const;

 private:
  Mft() = default;
  core::Result<core::Done> locate(const core::ImageSource& image, const RecordFacts& base,
                                  core::Findings& findings);
  void add_listed_extents(const core::ImageSource& image, core::ByteView list,
                          const RecordFacts& base, core::Findings& findings);

  void note_unmapped(u64 first, u64 stated_size);

  ClusterMap clusters_;
  std::vector<Extent> extents_;
  std::optional<Gap> unmapped_;
  std::map<u64, std::vector<std::byte>> mirrored_;  // copies that replace their records
  u64 record_count_ = 0;
  u64 stored_count_ = 0;
  u64 valid_count_ = 0;
  u32 record_size_ = 0;
  bool extracted_ = false;  // clusters of other streams are out of reach
};

// Undoes fixups of a record in place and reads its facts.
core::Result<std::optional<core::ParseError>> read_fixed_record(std::span<std::byte> record,
                                                                u64 number, u64 offset,
                                                                RecordFacts& facts);

// The value of a file's attribute list, resident or not; empty if there is none.
core::Result<std::vector<std::byte>> read_attribute_list_value(const core::ImageSource& image,
                                                               const ClusterMap& clusters,
                                                               const RecordFacts& base);

}  // namespace coldtrace::ntfs
