#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "coldtrace/core/image_source.hpp"
#include "coldtrace/ntfs/extents.hpp"
#include "coldtrace/ntfs/volume.hpp"

namespace coldtrace::ntfs {

// One attribute's bytes as NTFS itself stores them. Offsets in errors are those in the image.
class StoredStream : public core::ImageSource {
 public:
  // The offset in the image of a byte of the stream, or of the structure that describes it.
  virtual u64 offset_of(u64 position) const = 0;
  virtual bool has_holes() const { return false; }
};

// The stream of a file with this type and name, which must exist. Fails for encrypted streams, for
// those of a record that was not written completely, and for impossible sizes and units.
core::Result<std::unique_ptr<StoredStream>> open_stored_stream(const Volume& volume,
                                                               const File& file, AttributeType type,
                                                               std::string_view name);

}  // namespace coldtrace::ntfs
