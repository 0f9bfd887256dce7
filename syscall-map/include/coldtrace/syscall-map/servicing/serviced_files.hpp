#pragma once

#include <string>
#include <system_error>
#include <vector>

#include "coldtrace/core/findings.hpp"

namespace coldtrace::syscall_map {

// The files in a folder and its subfolders, for one of two systems.
struct ServicedFiles {
  struct Unreadable {
    std::string path;
    std::error_code error;
  };

  std::vector<std::string> files;      // by path
  u64 other_files = 0;                 // pipes, sockets, devices
  std::vector<Unreadable> unreadable;  // folders that cannot be listed, broken links
  core::Findings findings;
};

// Up to `most` files; exceeding it is `servicing-limit`. Links to folders are not followed, which
// is `servicing-links`; links to files are. If `folder` itself cannot be listed, it is unreadable.
[[nodiscard]] ServicedFiles list_serviced_files(const std::string& folder, std::size_t most);

}  // namespace coldtrace::syscall_map
