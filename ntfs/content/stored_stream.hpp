#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "coldtrace/core/image_source.hpp"
#include "coldtrace/ntfs/extents.hpp"
#include "coldtrace/ntfs/volume.hpp"

namespace coldtrace::ntfs {

// One attribute's bytes as NTFS itself stores them. Errors have bytes of the image.
class StoredStream : public core::ImageSource {
 public:
  // The byte of the image that holds a byte of the stream, or where what tells of it is.
  virtual u64 offset_of(u64 position) const = 0;
  virtual bool has_holes() const { return false; }
};

// The stream with this type and name of a file, which has it. Fails for encrypted ones, for those
// of a record that was not written as a whole, and for sizes and units that cannot be.
core::Result<std::unique_ptr<StoredStream>> open_stored_stream(const Volume& volume,
                                                               const File& file, AttributeType type,
                                                               std::string_view name);

}  // namespace coldtrace::ntfs
