#pragma once

#include <cstddef>

namespace coldtrace::test {

// What the reader for drivers of version 1.0 says of a table, as a number and in words. Its files
// are those that were there before the format had trace points, unchanged.
int open_with_reader_1_0(const void* bytes, std::size_t size);
const char* words_of_reader_1_0(int status);

}  // namespace coldtrace::test
