#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "coldtrace/core/file.hpp"
#include "coldtrace/ntfs/disk/ewf_patch.hpp"
#include "ntfs/disk/libewf.hpp"

namespace coldtrace::ntfs {

// One segment of an E01 image with some of its bytes replaced, as libewf is to see it. libbfio can
// limit the number of open files too, but then reads wrong bytes.
class PatchedSegment {
 public:
  // The open segments of an image: it may have 14,971, a process only few open files.
  using OpenFiles = std::deque<PatchedSegment*>;
  static constexpr std::size_t most_open = 16;

  // Null if the file cannot be opened. `open_files` must outlive the segment.
  static std::unique_ptr<PatchedSegment> make(std::string path, std::vector<EwfPatch> patches,
                                              OpenFiles& open_files);

  PatchedSegment(std::string path, std::vector<EwfPatch> patches, OpenFiles& open_files);

  // A handle that reads this segment, which must outlive it. Null if libbfio is out of memory.
  Libbfio::Handle* make_handle(const Libbfio& bfio);

 private:
  bool open();
  void patch(std::span<std::byte> bytes) const;

  static PatchedSegment& self(std::intptr_t* handle);
  static ssize_t read(std::intptr_t* handle, u8* buffer, std::size_t size, Libbfio::Error**);
  static off64_t seek(std::intptr_t* handle, off64_t offset, int whence, Libbfio::Error**);
  static int get_size(std::intptr_t* handle, size64_t* size, Libbfio::Error**);

  std::string path_;
  std::vector<EwfPatch> patches_;  // by offset
  OpenFiles& open_files_;
  std::unique_ptr<core::FileImage> file_;  // while it is one of the open ones
  u64 size_ = 0;
  u64 position_ = 0;
};

}  // namespace coldtrace::ntfs
