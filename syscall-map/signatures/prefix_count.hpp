#pragma once

#include <span>
#include <vector>

#include "coldtrace/core/reader.hpp"
#include "coldtrace/pe/image.hpp"
#include "coldtrace/syscall-map/function_bytes.hpp"

namespace coldtrace::syscall_map {

// A stretch of code in which signatures are searched for.
struct ExecutableCode {
  pe::Rva start{};
  core::ByteView bytes;
};

// What the file stores of the executable sections, ascending; overlaps only once.
[[nodiscard]] std::vector<ExecutableCode> executable_code(const pe::Image& image);

// How often the first 0, 1, ... bytes of the pattern occur in the executable sections.
[[nodiscard]] std::vector<u64> count_prefixes(const pe::Image& image,
                                              std::span<const FunctionByte> pattern);

// The longest prefix of the pattern that occurs anywhere, and all its places.
struct LongestPrefix {
  u32 size = 0;
  std::vector<pe::Rva> places;
};
[[nodiscard]] LongestPrefix find_longest_prefix(const pe::Image& image,
                                                std::span<const FunctionByte> pattern);

}  // namespace coldtrace::syscall_map
