#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <sys/types.h>

namespace coldtrace::cli {

// The files behind a block device: those of loop devices, also under partitions and under devices
// built from others (slaves: device mapper, RAID). `sysfs` is where the kernel lists them: Linux,
// Documentation/ABI/testing/sysfs-block and sysfs-block-loop.
std::vector<std::string> find_backing_files(dev_t device,
                                            const std::filesystem::path& sysfs = "/sys");

}  // namespace coldtrace::cli
