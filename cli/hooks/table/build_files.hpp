#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command/report.hpp"
#include "cli/output/terminal_progress.hpp"
#include "coldtrace/syscall-map/hook-table/build_pairing.hpp"

namespace coldtrace::cli {

// The images below the folders, by path. Files that are not images of a build are ignored;
// unreadable files and images are reported to `report`. `layout` is that of --layout; nothing means
// the one that the bytes prove. `progress` is told of each image.
std::vector<syscall_map::HookTableImage> find_build_files(const std::vector<std::string>& folders,
                                                          std::optional<pe::Layout> layout,
                                                          Report& report, core::Findings& findings,
                                                          TerminalProgress& progress);

// The image of a build at `path`, or nothing if it is not one; if it should be an image and cannot
// be read, `unreadable` says why.
std::optional<syscall_map::HookTableImage> read_build_file(const std::string& path,
                                                           std::optional<pe::Layout> layout,
                                                           std::optional<std::string>& unreadable);

// Reads what pairing needs to know of the files.
syscall_map::ImageContents image_contents(std::optional<pe::Layout> layout);

}  // namespace coldtrace::cli
