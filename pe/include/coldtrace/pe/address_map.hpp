#pragma once

#include <optional>
#include <span>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/lazy_file.hpp"
#include "coldtrace/pe/headers.hpp"

namespace coldtrace::pe {

// The layout of an image's bytes in a file.
enum class Layout : u8 {
  file,    // as linked: sections lie at PointerToRawData
  memory,  // as loaded: a byte's offset is its RVA
};

// The place of an image's bytes by RVA: the only place that knows alignment and padding rules.
// Image::bytes() gives the bytes themselves. Source: Microsoft, "PE Format", section table; the
// loader's handling of odd values follows the measured files: SectionAlignment = FileAlignment =
// 0x80 (Windows XP kernels), data in the header region, raw data shorter than the section.
class AddressMap {
 public:
  AddressMap() = default;

  // Sections that overlap, wrap or extend beyond the file are findings; the rest is mapped.
  AddressMap(u64 file_size, Layout layout, const OptionalHeader& optional,
             std::span<const SectionHeader> sections, core::Findings& findings);

  // The place in the file of the byte at `rva`; nothing for a byte that is zero-filled when loaded
  // or outside the image.
  [[nodiscard]] std::optional<u64> to_offset(Rva rva) const;

  // to_offset() of one address after another: the section of the last one is tried first.
  class Offsets;

  // The RVA to which the byte at `offset` is loaded; nothing for bytes that are not loaded.
  [[nodiscard]] std::optional<Rva> to_rva(u64 offset) const;

  // A section's bytes, or those of the headers, as far as they are in the file.
  struct Stored {
    Rva start;
    u64 offset;
    u64 size;
  };
  // The range that contains the byte at `rva`; nothing if it is not stored.
  [[nodiscard]] std::optional<Stored> find_stored(Rva rva) const;

  // The number of contiguous stored bytes from `rva` on.
  [[nodiscard]] u64 stored_size(Rva rva) const;

  // The bytes of `file` from `rva` to the end of its section, or the first `limit` of these, as far
  // as they are stored and can be read.
  [[nodiscard]] core::ByteView bytes(const core::FileView& file, Rva rva, u64 limit) const;

  // True if `rva` belongs to a section or the headers, stored in the file or not.
  [[nodiscard]] bool is_mapped(Rva rva) const;

 private:
  // `size` bytes are mapped at `start`; the first `stored` of them lie at `offset`.
  struct Region {
    u64 start;
    u64 size;
    u64 offset;
    u64 stored;
  };

  void add_headers(u64 size, u64 file_size, core::Findings& findings);
  void add_section(const SectionHeader& section, const OptionalHeader& optional, u64 file_size,
                   std::size_t index, core::Findings& findings);
  const Region* find(Rva rva) const;

  std::vector<Region> regions_;  // ascending, disjoint
};

class AddressMap::Offsets {
 public:
  explicit Offsets(core::Borrowed<AddressMap> map) : map_{map.get()} {}

  std::optional<u64> find(Rva rva) {
    if (!region_ || value(rva) - region_->start >= region_->size) {
      region_ = map_.find(rva);
      if (!region_) return std::nullopt;
    }
    const u64 skipped = value(rva) - region_->start;
    if (skipped >= region_->stored) return std::nullopt;
    return region_->offset + skipped;
  }

 private:
  const AddressMap& map_;
  const Region* region_ = nullptr;
};

}  // namespace coldtrace::pe
