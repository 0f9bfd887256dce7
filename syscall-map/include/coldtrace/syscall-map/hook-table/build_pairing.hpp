#pragma once

#include <functional>
#include <string>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table.hpp"
#include "coldtrace/syscall-map/stubs/service.hpp"

namespace coldtrace::syscall_map {

// The images of one build, the kernel first.
using BuildFiles = std::vector<HookTableImage>;

// What of many images is not part of a build, or has no part in it; a kernel, what it lacks.
struct UnpairedFile {
  HookTableImage file;
  std::string reason;
};

// Files put together as builds of Windows.
struct PairedBuilds {
  std::vector<BuildFiles> builds;  // in the order of their kernels
  std::vector<UnpairedFile> unpaired;
  core::Findings findings;
};

// A closer look at images, where identities do not tell.
struct ImageContents {
  std::function<std::vector<Service>(const HookTableImage&)> services;
  std::function<bool(const HookTableImage&, const HookTableImage&)> same_bytes;
};

// Whether both are the same image of a build, as far as their headers tell.
[[nodiscard]] bool same_image(const HookTableImage& a, const HookTableImage& b);

// Why `copy`, whose headers are those of `first`, is not read: it is the same file, or its bytes
// are not those that the headers stand for. A finding says it, too.
[[nodiscard]] std::string note_copy(const HookTableImage& copy, const HookTableImage& first,
                                    const ImageContents& contents, core::Findings& findings);

// Gives each kernel its ntdll, win32u and win32k files: those beside it, else those of exactly its
// version, always of its machine. Of several the one whose numbers agree with the kernel's is
// taken. A kernel that is left without an ntdll takes one of another revision that agrees on every
// number.
[[nodiscard]] PairedBuilds pair_builds(std::vector<HookTableImage> files,
                                       const ImageContents& contents);

}  // namespace coldtrace::syscall_map
