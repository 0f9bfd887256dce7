#pragma once

#include <span>
#include <vector>

#include "coldtrace/syscall-map/hook-table/hook_table.hpp"
#include "coldtrace/syscall-map/stubs/kernel_view.hpp"

namespace coldtrace::syscall_map {

// An image of a build with its tables. The view must outlive it.
struct HookTableSource {
  HookTableImage description;
  const KernelView* view = nullptr;
};

// The role of an image, by its own name: "ntoskrnl.exe", "ntkrnlpa.exe", "win32k.sys". Nothing for
// any other image.
[[nodiscard]] std::optional<ImageRole> find_image_role(const pe::Identity& identity);

// Makes the table of one build from its images, of which the first must be the kernel. Names come
// from the kernel itself, and from ntdll and win32u if these agree with it; one that does not is a
// warning, and gives no names. `symbols` and `types` are those of the kernel's PDB, if any.
[[nodiscard]] HookTable build_hook_table(std::span<const HookTableSource> sources,
                                         const std::vector<NamedPlace>& symbols = {},
                                         const std::vector<KnownOffset>& types = {});

// As build_hook_table, but only images, services, service tables and KiServicesTab.
[[nodiscard]] HookTable build_hook_services(std::span<const HookTableSource> sources,
                                            const std::vector<NamedPlace>& symbols = {});

}  // namespace coldtrace::syscall_map
