#include "ntfs/disk/patched_segment.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>

namespace coldtrace::ntfs {

std::unique_ptr<PatchedSegment> PatchedSegment::make(std::string path,
                                                     std::vector<EwfPatch> patches,
                                                     OpenFiles& open_files) {
  auto file = std::make_unique<PatchedSegment>(std::move(path), std::move(patches), open_files);
  if (!file->open()) return nullptr;
  file->size_ = file->file_->size();
  return file;
}

PatchedSegment::PatchedSegment(std::string path, std::vector<EwfPatch> patches,
                               OpenFiles& open_files)
    : path_{std::move(path)}, patches_{std::move(patches)}, open_files_{open_files} {
  std::ranges::sort(patches_, {}, &EwfPatch::offset);
}

Libbfio::Handle* PatchedSegment::make_handle(const Libbfio& bfio) {
  Libbfio::Handle* handle = nullptr;
  bfio.handle_initialize(
      &handle, std::bit_cast<std::intptr_t*>(this), nullptr, nullptr,
      [](std::intptr_t*, int, Libbfio::Error**) { return 1; },
      [](std::intptr_t*, Libbfio::Error**) { return 0; }, read, nullptr, seek,
      [](std::intptr_t*, Libbfio::Error**) { return 1; },
      [](std::intptr_t*, Libbfio::Error**) { return 1; }, get_size, 0, nullptr);
  return handle;
}

bool PatchedSegment::open() {
  if (file_) return true;
  if (open_files_.size() >= most_open) {
    open_files_.front()->file_.reset();
    open_files_.pop_front();
  }
  auto opened = core::FileImage::open(path_);
  if (!opened) return false;
  file_ = std::move(*opened);
  open_files_.push_back(this);
  return true;
}

// No two patches have a byte in common.
void PatchedSegment::patch(std::span<std::byte> bytes) const {
  const auto first = std::ranges::partition_point(patches_, [&](const EwfPatch& patch) {
    return patch.offset + patch.bytes.size() <= position_;
  });
  for (auto patch = first; patch != patches_.end() && patch->offset < position_ + bytes.size();
       ++patch)
    for (std::size_t i = 0; i < patch->bytes.size(); ++i)
      if (const u64 at = patch->offset + i; at >= position_ && at - position_ < bytes.size())
        bytes[at - position_] = patch->bytes[i];
}

PatchedSegment& PatchedSegment::self(std::intptr_t* handle) {
  return *std::bit_cast<PatchedSegment*>(handle);
}

ssize_t PatchedSegment::read(std::intptr_t* handle, u8* buffer, std::size_t size,
                             Libbfio::Error**) {
  auto& file = self(handle);
  if (!file.open()) return -1;
  const u64 count = std::min<u64>(size, file.size_ - std::min(file.size_, file.position_));
  const auto bytes = std::as_writable_bytes(std::span{buffer, static_cast<std::size_t>(count)});
  if (!file.file_->read_at(file.position_, bytes)) return -1;
  file.patch(bytes);
  file.position_ += count;
  return static_cast<ssize_t>(count);
}

off64_t PatchedSegment::seek(std::intptr_t* handle, off64_t offset, int whence, Libbfio::Error**) {
  auto& file = self(handle);
  if (whence == SEEK_CUR) offset += static_cast<off64_t>(file.position_);
  if (whence == SEEK_END) offset += static_cast<off64_t>(file.size_);
  if (offset < 0) return -1;
  file.position_ = static_cast<u64>(offset);
  return offset;
}

int PatchedSegment::get_size(std::intptr_t* handle, size64_t* size, Libbfio::Error**) {
  *size = self(handle).size_;
  return 1;
}

}  // namespace coldtrace::ntfs
