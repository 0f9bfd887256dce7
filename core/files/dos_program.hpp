#pragma once

#include "coldtrace/core/reader.hpp"

namespace coldtrace::core {

// Whether a file of `size` bytes that starts with `head`, and with MZ, is a complete pure DOS
// program: its relocations (e_lfarlc) lie where later formats store the offset of their header
// (e_lfanew), and the file has all bytes that the header counts.
// Source: Microsoft, "MS-DOS Programmer's Reference", EXE header.
bool is_dos_program(ByteView head, u64 size);

}  // namespace coldtrace::core
