#pragma once

#include <string_view>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::tracefile {

// Types of trace header; the second of a pair is for 64-bit producers.
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

[[nodiscard]] std::string_view to_string(HeaderType type);

// How the records of a type are laid out; a header size of 0 marks a type that no file has.
struct HeaderLayout {
  u8 size_offset;  // of the u16 with the record's size
  u8 header_size;
  u8 pointer_size;  // of the producer
};

// How the header of an event is laid out.
[[nodiscard]] constexpr HeaderLayout layout_of(HeaderType type) {
  switch (type) {
    case HeaderType::system32:
      return {4, 32, 4};
    case HeaderType::system64:
      return {4, 32, 8};
    case HeaderType::compact32:
      return {4, 24, 4};
    case HeaderType::compact64:
      return {4, 24, 8};
    case HeaderType::perfinfo32:
      return {4, 16, 4};
    case HeaderType::perfinfo64:
      return {4, 16, 8};
    case HeaderType::full32:
      return {0, 48, 4};
    case HeaderType::full64:
      return {0, 48, 8};
    case HeaderType::instance32:
      return {0, 72, 4};
    case HeaderType::instance64:
      return {0, 72, 8};
    case HeaderType::event32:
      return {0, 80, 4};
    case HeaderType::event64:
      return {0, 80, 8};
    case HeaderType::message:
    case HeaderType::error:
    case HeaderType::timed:
      return {0, 8, 8};
    case HeaderType::wnode:
      break;
  }
  return {0, 0, 8};
}

}  // namespace coldtrace::tracefile
