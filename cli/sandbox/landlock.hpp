#pragma once

#include <string>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::cli {

// What Landlock may allow below a folder, or of one file. Linux, include/uapi/linux/landlock.h,
// whose copy in a distribution may know fewer than the kernel that runs.
namespace landlock_right {
inline constexpr u64 execute = 1U << 0;
inline constexpr u64 write_file = 1U << 1;
inline constexpr u64 read_file = 1U << 2;
inline constexpr u64 read_folder = 1U << 3;
inline constexpr u64 remove_folder = 1U << 4;
inline constexpr u64 remove_file = 1U << 5;
inline constexpr u64 make_folder = 1U << 7;
inline constexpr u64 make_file = 1U << 8;
inline constexpr u64 truncate = 1U << 14;  // from ABI 3 on
}  // namespace landlock_right

// The kernel's Landlock: rights to files that a process, and all that it starts, gives up for good.
// Reading stays free. Documentation/userspace-api/landlock.rst.
class Landlock {
 public:
  // The version of its interface; 0 where the kernel has none.
  static unsigned abi();

  Landlock();
  Landlock(const Landlock&) = delete;
  Landlock& operator=(const Landlock&) = delete;
  ~Landlock();

  // The rights that stay below `path`, or of the file that it is; nothing where it is not there.
  void allow(const std::string& path, u64 rights);

  // From here on, of the calling thread and those that it starts. False where it is not possible.
  bool enforce();

 private:
  u64 handled_ = 0;
  int ruleset_ = -1;
};

}  // namespace coldtrace::cli
