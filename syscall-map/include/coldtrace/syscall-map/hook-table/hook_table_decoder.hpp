#pragma once

#include <vector>

#include "coldtrace/core/result.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table.hpp"

namespace coldtrace::syscall_map {

// The builds of a binary table, .hooktab, by their kernels' identities. Everything in it is
// checked: a table that is accepted is one that encode_hook_tables could have written, or a later
// version of coldtrace that only added to it. Paths and findings are empty.
core::Result<std::vector<HookTable>> decode_hook_tables(core::ByteView file);

// True for bytes that start as a binary table does.
[[nodiscard]] bool is_hook_table(core::ByteView file);

}  // namespace coldtrace::syscall_map
