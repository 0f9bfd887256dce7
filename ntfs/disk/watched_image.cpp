#include "ntfs/disk/watched_image.hpp"

namespace coldtrace::ntfs {

core::Result<core::Done> WatchedImage::read_at(u64 offset, std::span<std::byte> destination) const {
  auto read = image_->read_at(offset, destination);
  if (!read && read.error().fault == core::Fault::io) {
    const std::scoped_lock lock{mutex_};
    if (!error_ || read.error().offset < error_->offset) error_ = read.error();
  }
  return read;
}

void WatchedImage::add_findings(core::Findings& findings) const {
  const std::scoped_lock lock{mutex_};
  if (error_ && findings.count("unreadable-range") == 0)
    findings.warning("unreadable-range", *error_);
}

}  // namespace coldtrace::ntfs
