#include "coldtrace/ntfs/mapped_stream.hpp"

namespace coldtrace::ntfs {

core::Result<core::Done> MappedStream::read(u64 position, std::span<std::byte> destination) const {
  if (extents_.empty()) return image_->read_at(position, destination);
  return read_stream(*image_, clusters_, extents_, position, destination);
}

std::optional<u64> MappedStream::offset_of(u64 position) const {
  if (extents_.empty()) return position;
  return find_offset(clusters_, extents_, position);
}

}  // namespace coldtrace::ntfs
