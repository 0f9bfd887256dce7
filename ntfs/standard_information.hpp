#pragma once

#include <optional>

#include "core/file_time.hpp"
#include "core/reader.hpp"

namespace coldtrace::ntfs {

// The four times that NTFS keeps in three places, in stored order.
struct Times {
  core::FileTime created;
  core::FileTime modified;  // the data
  core::FileTime changed;   // the FILE record
  core::FileTime accessed;
  friend bool operator==(const Times&, const Times&) = default;
};

// Source: linux-ntfs documentation, "$STANDARD_INFORMATION". 48 bytes on NT 4 and as ntfs-3g
// writes it, 72 bytes since NTFS 3.0.
struct StandardInformation {
  Times times;
  u32 dos_attributes;
  std::optional<u32> security_id;  // into $Secure; absent in the short form
  std::optional<u64> usn;
};

core::Result<StandardInformation> read_standard_information(core::ByteView value, u64 offset);

}  // namespace coldtrace::ntfs
