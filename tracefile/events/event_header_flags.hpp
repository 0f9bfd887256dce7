#pragma once

#include "coldtrace/core/integers.hpp"

// Bits of EVENT_HEADER.Flags: EVENT_HEADER_FLAG_... of the Windows SDK, evntcons.h.
namespace coldtrace::tracefile::event_header_flag {

inline constexpr u16 extended_info = 0x0001;
inline constexpr u16 private_session = 0x0002;
inline constexpr u16 string_only = 0x0004;
inline constexpr u16 trace_message = 0x0008;
inline constexpr u16 no_cputime = 0x0010;
inline constexpr u16 header_of_32_bits = 0x0020;
inline constexpr u16 classic_header = 0x0100;
inline constexpr u16 processor_index = 0x0200;  // in place of the first half of the times

}  // namespace coldtrace::tracefile::event_header_flag
