#pragma once

#include <vector>

#include "coldtrace/core/result.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table.hpp"

namespace coldtrace::syscall_map {

// The builds of a binary table, .hooktab, by their kernels' identities. Everything in it is
// checked: an accepted table is one that encode_hook_tables could have written, or that a later
// version of coldtrace wrote with additions only. Paths and findings are empty.
core::Result<std::vector<HookTable>> decode_hook_tables(core::ByteView file);

// True for bytes that start like a binary table.
[[nodiscard]] bool is_hook_table(core::ByteView file);

}  // namespace coldtrace::syscall_map
