#pragma once

#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/image.hpp"

namespace coldtrace::pe {

// A range of code according to the compiler's table for stack unwinding.
struct FunctionRange {
  Rva start;
  Rva end;          // one after the last byte
  u32 unwind_data;  // RVA of the unwind information, or the packed information itself
};

// The .pdata of x64, ARM64 and ARM32 images, ascending; empty for other machines. Entries that are
// out of order or empty, and lengths that cannot be read, are findings. Source: Microsoft, "PE
// Format", .pdata section; "x64 exception handling"; "ARM64 exception handling" and "ARM exception
// handling".
[[nodiscard]] std::vector<FunctionRange> read_function_ranges(const Image& image,
                                                              core::Findings& findings);

// Their number.
[[nodiscard]] u64 count_function_ranges(const Image& image, core::Findings& findings);

// True if a range of `image` is part of a function that starts elsewhere. On x64, its unwind
// information says so, which is stored apart from the table.
[[nodiscard]] bool is_fragment(const Image& image, const FunctionRange& range);

}  // namespace coldtrace::pe
