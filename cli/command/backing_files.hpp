#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace coldtrace::cli {

// The files behind a block device: those of loop devices, also below partitions and below devices
// that are composed of others (slaves: device mapper, RAID). `sysfs` is where the kernel describes
// this: Linux, Documentation/ABI/testing/sysfs-block and sysfs-block-loop.
std::vector<std::string> find_backing_files(dev_t device,
                                            const std::filesystem::path& sysfs = "/sys");

// What tells a file from all others, whatever its name.
struct FileNumber {
  dev_t device;
  ino_t inode;
};

// The file behind a loop device or a partition of one, as the device itself knows it; nothing for
// other devices, and for those that may not be read. Source: Linux, uapi/linux/loop.h.
std::optional<FileNumber> find_loop_file(const std::string& device);

}  // namespace coldtrace::cli
