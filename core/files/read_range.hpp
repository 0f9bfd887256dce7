#pragma once

#include <cerrno>
#include <span>

#include <unistd.h>

#include "coldtrace/core/result.hpp"

namespace coldtrace::core {

// Reads all of a range of an open file, which may have shrunk since it was opened: then EIO.
inline Result<Done> read_range(int descriptor, Name file, u64 offset,
                               std::span<std::byte> destination) {
  while (!destination.empty()) {
    const auto count =
        ::pread(descriptor, destination.data(), destination.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0)
      return fail(ParseError{Fault::io, offset, file, "read", 0,
                             static_cast<u64>(count < 0 ? errno : EIO)});
    offset += static_cast<u64>(count);
    destination = destination.subspan(static_cast<std::size_t>(count));
  }
  return Done{};
}

}  // namespace coldtrace::core
