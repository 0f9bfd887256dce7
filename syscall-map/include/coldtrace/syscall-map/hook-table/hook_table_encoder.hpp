#pragma once

#include <span>
#include <vector>

#include "coldtrace/core/result.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table.hpp"

namespace coldtrace::syscall_map {

// Options for writing a table.
struct HookTableEncoding {
  bool evidence = true;  // the sentences that prove each value; a driver does not need them
};

// The binary table, .hooktab, of these builds, in the order of their kernels' identities; see
// docs/formats/hook-table-format.md. Fails with `bad_value` for a build without a kernel, for two
// builds of one kernel, for services that are not sorted by number and for texts with a zero byte;
// with `limit` if the table would exceed largest_hook_table.
core::Result<std::vector<std::byte>> encode_hook_tables(std::span<const HookTable> builds,
                                                        const HookTableEncoding& encoding = {});

inline constexpr u64 largest_hook_table = u64{256} << 20;

// The key by which a table is found: TimeDateStamp, SizeOfImage, CheckSum, then the machine. The
// image of the kernel, or nothing if the build has none.
[[nodiscard]] const HookTableImage* find_kernel(const HookTable& build);
[[nodiscard]] bool kernel_before(const pe::Identity& a, const pe::Identity& b);

}  // namespace coldtrace::syscall_map
