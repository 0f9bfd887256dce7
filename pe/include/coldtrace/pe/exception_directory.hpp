#pragma once

#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/image.hpp"

namespace coldtrace::pe {

// Where the compiler says that code lies, from the table for stack unwinding.
struct FunctionRange {
  Rva start;
  Rva end;          // one behind the last byte
  u32 unwind_data;  // RVA of the unwind information, or the information itself where packed
};

// The .pdata of x64, ARM64 and ARM32 images, ascending; empty for other machines. Entries that
// are out of order or empty, and lengths that cannot be read, are findings.
// Source: Microsoft, "PE Format", .pdata section; "x64 exception handling"; "ARM64 exception
// handling" and "ARM exception handling".
[[nodiscard]] std::vector<FunctionRange> read_function_ranges(const Image& image,
                                                              core::Findings& findings);

// How many these are.
[[nodiscard]] u64 count_function_ranges(const Image& image, core::Findings& findings);

// True when a range of `image` is a part of a function that starts elsewhere. For x64 its unwind
// information says so, which lies apart from the table.
[[nodiscard]] bool is_fragment(const Image& image, const FunctionRange& range);

}  // namespace coldtrace::pe
