#include "ntfs/locate/allocation_bitmap.hpp"

#include <algorithm>

namespace coldtrace::ntfs {

AllocationBitmap::AllocationBitmap(const Volume& volume) : volume_{volume}, bytes_(block_size) {
  const auto file = volume.read_file(static_cast<u64>(SystemRecord::bitmap));
  const auto* data = file ? file->facts.find(AttributeType::data) : nullptr;
  if (!data || data->resident) return;
  ExtentFaults faults;
  extents_ = collect_extents(file->facts, AttributeType::data, data->name, volume.mft().clusters(),
                             faults);
  size_ = data->size;
}

std::optional<bool> AllocationBitmap::is_allocated(u64 cluster) {
  const u64 byte = cluster / 8;
  if (byte >= size_) return std::nullopt;
  const u64 block = byte / block_size;
  if (block_ != block) {
    block_ = block;
    const auto piece = std::span{bytes_}.first(std::min(block_size, size_ - block * block_size));
    readable_ =
        read_stream(volume_.image(), volume_.mft().clusters(), extents_, block * block_size, piece)
            .has_value();
  }
  if (!readable_) return std::nullopt;
  return (std::to_integer<unsigned>(bytes_[byte % block_size]) >> cluster % 8 & 1) != 0;
}

}  // namespace coldtrace::ntfs
