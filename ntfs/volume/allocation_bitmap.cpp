#include "ntfs/volume/allocation_bitmap.hpp"

#include <algorithm>
#include <bit>

namespace coldtrace::ntfs {

AllocationBitmap::AllocationBitmap(core::Borrowed<Volume> volume)
    : volume_{volume.get()}, bytes_(block_size) {
  const auto file = volume_.read_file(static_cast<u64>(SystemRecord::bitmap));
  const auto* data = file ? file->facts.find(AttributeType::data) : nullptr;
  if (!data || data->resident) return;
  ExtentFaults faults;
  extents_ = collect_extents(file->facts, AttributeType::data, data->name, volume_.mft().clusters(),
                             faults);
  size_ = std::min(data->size, volume_.image().size());
}

bool AllocationBitmap::load(u64 byte) {
  const u64 block = byte / block_size;
  if (block_ == block) return readable_;
  block_ = block;
  const auto piece = std::span{bytes_}.first(std::min(block_size, size_ - block * block_size));
  readable_ =
      read_stream(volume_.image(), volume_.mft().clusters(), extents_, block * block_size, piece)
          .has_value();
  return readable_;
}

std::optional<bool> AllocationBitmap::is_allocated(u64 cluster) {
  const u64 byte = cluster / 8;
  if (byte >= size_ || !load(byte)) return std::nullopt;
  return (std::to_integer<unsigned>(bytes_[byte % block_size]) >> cluster % 8 & 1) != 0;
}

AllocationBitmap::Count AllocationBitmap::count(u64 start, u64 end) {
  constexpr u64 clusters_of_block = block_size * 8;
  Count count;
  while (start < end) {
    if (start / 8 >= size_) {
      count.unknown += end - start;
      break;
    }
    const u64 stop = std::min(end, (start / clusters_of_block + 1) * clusters_of_block);
    const u64 known = load(start / 8) ? std::min(stop, size_ * 8) : start;
    count.allocated += count_bits(start, known);
    count.unknown += stop - known;
    start = stop;
  }
  return count;
}

// All in the block that is in memory.
u64 AllocationBitmap::count_bits(u64 start, u64 end) const {
  u64 count = 0;
  while (start < end) {
    const u64 first = start % 8;
    const u64 bits = std::min(8 - first, end - start);
    const auto mask = 0xffU >> (8 - bits) << first;
    const auto byte = std::to_integer<unsigned>(bytes_[start / 8 % block_size]);
    count += static_cast<u64>(std::popcount(byte & mask));
    start += bits;
  }
  return count;
}

}  // namespace coldtrace::ntfs
