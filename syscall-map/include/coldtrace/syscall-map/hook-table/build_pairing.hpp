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

// An image that is not part of a build; or a kernel that lacks an image.
struct UnpairedFile {
  HookTableImage file;
  std::string reason;
};

// Files grouped into builds of Windows.
struct PairedBuilds {
  std::vector<BuildFiles> builds;  // in the order of their kernels
  std::vector<UnpairedFile> unpaired;
  core::Findings findings;
};

// Access to the contents of images, where identities are not enough.
struct ImageContents {
  std::function<std::vector<Service>(const HookTableImage&)> services;
  std::function<bool(const HookTableImage&, const HookTableImage&)> same_bytes;
};

// Whether both are the same image of a build, according to their headers.
[[nodiscard]] bool same_image(const HookTableImage& a, const HookTableImage& b);

// Why `copy`, which has the headers of `first`, is not read: it is the same file, or its bytes
// differ although the headers are the same. A finding reports it, too.
[[nodiscard]] std::string note_copy(const HookTableImage& copy, const HookTableImage& first,
                                    const ImageContents& contents, core::Findings& findings);

// Gives each kernel its ntdll, win32u and win32k files: those next to it, otherwise those of
// exactly its version, always for its machine. Of several, the one whose numbers agree with the
// kernel's is taken. A kernel that is left without an ntdll takes one of another revision that
// agrees on every number.
[[nodiscard]] PairedBuilds pair_builds(std::vector<HookTableImage> files,
                                       const ImageContents& contents);

}  // namespace coldtrace::syscall_map
