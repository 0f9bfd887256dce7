#pragma once

#include <optional>

#include "coldtrace/core/file_time.hpp"
#include "coldtrace/core/reader.hpp"

namespace coldtrace::ntfs {

// The four times that NTFS keeps in three places, in stored order.
struct Times {
  core::FileTime created;
  core::FileTime modified;  // the data
  core::FileTime changed;   // the FILE record
  core::FileTime accessed;
  friend bool operator==(const Times&, const Times&) = default;
};

// True for an unset time, and from 1970 to 2200.
[[nodiscard]] bool is_plausible(core::FileTime time);
[[nodiscard]] bool is_plausible(const Times& times);

// Whether none of them has a fraction of a second.
[[nodiscard]] constexpr bool has_whole_seconds(const Times& times) {
  constexpr u64 second = 10'000'000;
  return times.created.ticks % second == 0 && times.modified.ticks % second == 0 &&
         times.changed.ticks % second == 0 && times.accessed.ticks % second == 0;
}

// Source: linux-ntfs documentation, "$STANDARD_INFORMATION". 48 bytes on NT 4 and as ntfs-3g
// writes it, 72 bytes since NTFS 3.0.
struct StandardInformation {
  Times times;
  u32 dos_attributes;
  std::optional<u32> security_id;  // into $Secure; absent in the short form
  std::optional<u64> usn;
  u16 id = 0;  // of the attribute
};

// `value` is that of a $STANDARD_INFORMATION attribute, at byte `offset` of the image.
core::Result<StandardInformation> read_standard_information(core::ByteView value, u64 offset);

}  // namespace coldtrace::ntfs
