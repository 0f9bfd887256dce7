#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <sys/types.h>

namespace coldtrace::cli {

// The files whose bytes a block device hands out: those of loop devices, also behind partitions and
// behind what is put together of other devices (slaves: device mapper, RAID). `sysfs` is where
// the kernel tells of it: Linux, Documentation/ABI/testing/sysfs-block and sysfs-block-loop.
std::vector<std::string> find_backing_files(dev_t device,
                                            const std::filesystem::path& sysfs = "/sys");

}  // namespace coldtrace::cli
