#pragma once

#include <string_view>

#include "core/integers.hpp"

namespace coldtrace::tracefile {

// Types of trace header; the second of a pair is of 64-bit producers.
// Source: Windows SDK ntwmi.h, TRACE_HEADER_TYPE_*.
enum class HeaderType : u8 {
  system32 = 1,
  system64 = 2,
  compact32 = 3,
  compact64 = 4,
  full32 = 10,
  instance32 = 11,
  timed = 12,
  error = 13,
  wnode = 14,
  message = 15,
  perfinfo32 = 16,
  perfinfo64 = 17,
  event32 = 18,
  event64 = 19,
  full64 = 20,
  instance64 = 21,
};

std::string_view to_string(HeaderType type);

// How the records of a type are laid out; a header size of 0 is a type that no file has.
struct HeaderLayout {
  std::size_t size_offset;  // of the u16 with the record's size
  std::size_t header_size;
  unsigned pointer_size;  // of the producer
};
HeaderLayout layout_of(HeaderType type);

}  // namespace coldtrace::tracefile
