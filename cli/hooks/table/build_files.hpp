#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command/report.hpp"
#include "cli/output/terminal_progress.hpp"
#include "coldtrace/syscall-map/hook-table/build_pairing.hpp"

namespace coldtrace::cli {

// The images below a folder, by path. What is not an image of a build is skipped; a file or image
// that cannot be read is reported to `report`. `layout` is that of --layout: nothing means that the
// bytes decide. Each image is reported to `progress`.
std::vector<syscall_map::HookTableImage> find_build_files(const std::vector<std::string>& folders,
                                                          std::optional<pe::Layout> layout,
                                                          Report& report, core::Findings& findings,
                                                          TerminalProgress& progress);

// What the file at `path` is, or nothing if it is not an image of a build; if it should be one but
// cannot be read, `unreadable` says why.
std::optional<syscall_map::HookTableImage> read_build_file(const std::string& path,
                                                           std::optional<pe::Layout> layout,
                                                           std::optional<std::string>& unreadable);

// Reads what pairing needs from the files.
syscall_map::ImageContents image_contents(std::optional<pe::Layout> layout);

}  // namespace coldtrace::cli
