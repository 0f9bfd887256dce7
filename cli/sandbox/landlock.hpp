#pragma once

#include <string>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::cli {

// What Landlock may allow below a folder, or for one file. Linux, include/uapi/linux/landlock.h; a
// distribution's copy may know fewer than the running kernel.
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

// The kernel's Landlock: rights to files that a process, and everything that it starts, gives up
// for good. Documentation/userspace-api/landlock.rst.
class Landlock {
 public:
  enum class Side {
    reading,    // of files and folders
    all_other,  // and TCP, sockets of abstract names, signals to processes that are outside
  };

  // The version of its interface; 0 if the kernel has none.
  static unsigned abi();

  explicit Landlock(Side side);
  Landlock(const Landlock&) = delete;
  Landlock& operator=(const Landlock&) = delete;
  ~Landlock();

  // Keeps these rights below the folder `path`, or for the file `path`; does nothing if it does not
  // exist.
  void allow(const std::string& path, u64 rights);

  // Applies from here on to the calling thread and those that it starts. False if not possible.
  bool enforce();

 private:
  u64 handled_ = 0;
  int ruleset_ = -1;
};

}  // namespace coldtrace::cli
