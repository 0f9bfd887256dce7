#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "coldtrace/registry/hive/base_block.hpp"

namespace coldtrace::registry {

// A hive while logs are written to it.
class HiveBytes {
 public:
  // `most_growth` is by how many bytes its bins may grow: what the logs have.
  HiveBytes(std::vector<std::byte>& bytes, u64 most_growth)
      : bytes_{bytes}, most_{std::max<u64>(bytes.size(), BaseBlock::size) + most_growth} {}

  core::ByteView view() const { return bytes_; }

  // Whether there is room for bins of this size, or for a page that ends there.
  bool fits(u64 bins_size) const { return BaseBlock::size + bins_size <= most_; }

  // `offset` is in bytes from the first bin; the page must fit.
  void write_page(u64 offset, core::ByteView page) {
    const u64 at = BaseBlock::size + offset;
    if (bytes_.size() < at + page.size()) bytes_.resize(at + page.size());
    std::copy(page.begin(), page.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(at));
  }

  // Grows the bins to this size, with zeros where nothing was written.
  void grow(u64 bins_size) {
    if (bytes_.size() < BaseBlock::size + bins_size) bytes_.resize(BaseBlock::size + bins_size);
  }

  // Writes to the base block; close() corrects its checksum.
  void write_u32(u64 offset, u32 number) {
    std::memcpy(bytes_.data() + offset, &number, sizeof number);
  }
  void write_sector(core::ByteView sector) {
    std::copy_n(sector.begin(), BaseBlock::sector_size, bytes_.begin());
  }
  void close(u32 sequence, u32 bins_size) {
    grow(bins_size);
    write_u32(BaseBlock::sequence_offset, sequence);
    write_u32(BaseBlock::sequence_offset + 4, sequence);
    write_u32(BaseBlock::type_offset, 0);
    write_u32(BaseBlock::bins_size_offset, bins_size);
    write_u32(BaseBlock::checksum_offset, base_block_checksum(bytes_));
  }

 private:
  std::vector<std::byte>& bytes_;
  u64 most_;
};

}  // namespace coldtrace::registry
