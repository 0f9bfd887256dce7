#pragma once

#include <string>
#include <vector>

#include "coldtrace/pe/identity.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table.hpp"
#include "coldtrace/syscall-map/stubs/service.hpp"

namespace coldtrace::cli {

// An image of a run, by the path that messages name it by.
struct NamedImage {
  const std::string& path;
  const pe::Identity& identity;
};

// Throws Failure, which says what the image is instead, where its own name is that of another role.
// What has no known name may be anything.
void require_role(const NamedImage& image, syscall_map::ImageRole role);

// Throws Failure where the system call stubs of an image that is to be a kernel, or an ntdll or
// win32u, are those of the other side. What has none may be either.
void require_stubs(const NamedImage& image, syscall_map::ImageRole role,
                   const std::vector<syscall_map::Service>& services);

// Throws Failure where the images are not for one machine.
void require_one_machine(const NamedImage& image, const NamedImage& other);

}  // namespace coldtrace::cli
