#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command/report.hpp"
#include "cli/output/terminal_progress.hpp"
#include "coldtrace/syscall-map/hook-table/build_pairing.hpp"

namespace coldtrace::cli {

// The images below a folder, by path. What is not an image of a build is passed over, and a file
// that cannot be read, or an image that cannot, is told to `report`. A layout is that of --layout:
// nothing stands for what the bytes prove. Each image is told to `progress`.
std::vector<syscall_map::HookTableImage> find_build_files(const std::vector<std::string>& folders,
                                                          std::optional<pe::Layout> layout,
                                                          Report& report, core::Findings& findings,
                                                          TerminalProgress& progress);

// What the file at `path` is, or nothing where it is not an image of a build; of one that should be
// an image and cannot be read, `unreadable` tells why.
std::optional<syscall_map::HookTableImage> read_build_file(const std::string& path,
                                                           std::optional<pe::Layout> layout,
                                                           std::optional<std::string>& unreadable);

// Reads what pairing asks of the files.
syscall_map::ImageContents image_contents(std::optional<pe::Layout> layout);

}  // namespace coldtrace::cli
