#pragma once

#include <string>
#include <vector>

#include "coldtrace/pe/identity.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table.hpp"
#include "coldtrace/syscall-map/stubs/service.hpp"

namespace coldtrace::cli {

// An image of a run, and its path for messages.
struct NamedImage {
  const std::string& path;
  const pe::Identity& identity;
};

// Throws Failure, saying what the image is instead, if its own name is that of another role. An
// image with an unknown name may be anything.
void require_role(const NamedImage& image, syscall_map::ImageRole role);

// Throws Failure if an image that should be a kernel has stubs of user mode, or one that should be
// ntdll or win32u has stubs of a kernel. An image without stubs may be either.
void require_stubs(const NamedImage& image, syscall_map::ImageRole role,
                   const std::vector<syscall_map::Service>& services);

// Throws Failure if the images are for different machines.
void require_one_machine(const NamedImage& image, const NamedImage& other);

}  // namespace coldtrace::cli
