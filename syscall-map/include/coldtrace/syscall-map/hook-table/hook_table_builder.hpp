#pragma once

#include <span>
#include <vector>

#include "coldtrace/syscall-map/hook-table/hook_table.hpp"
#include "coldtrace/syscall-map/stubs/kernel_view.hpp"

namespace coldtrace::syscall_map {

// An image of a build, and what is known of it. The view outlives it.
struct HookTableSource {
  HookTableImage description;
  const KernelView* view = nullptr;
};

// What an image is, by the name that it has for itself: "ntoskrnl.exe", "ntkrnlpa.exe",
// "win32k.sys". Nothing for any other image.
[[nodiscard]] std::optional<ImageRole> find_image_role(const pe::Identity& identity);

// Makes the table of one build from its images, of which the first must be the kernel. Names come
// from the kernel itself, and from ntdll and win32u where these agree with it; a user side that
// does not is a warning, and gives no name. `symbols` and `types` are those of the kernel's PDB,
// if any.
[[nodiscard]] HookTable build_hook_table(std::span<const HookTableSource> sources,
                                         const std::vector<NamedPlace>& symbols = {},
                                         const std::vector<KnownOffset>& types = {});

// As build_hook_table, but of the table only images, services, service tables and KiServicesTab.
[[nodiscard]] HookTable build_hook_services(std::span<const HookTableSource> sources,
                                            const std::vector<NamedPlace>& symbols = {});

}  // namespace coldtrace::syscall_map
