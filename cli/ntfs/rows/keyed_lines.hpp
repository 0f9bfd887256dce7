#pragma once

#include <array>
#include <bit>
#include <string_view>

#include "coldtrace/core/text_buffer.hpp"

namespace coldtrace::cli {

// Lines passed from a job to the sorter: each is preceded by its key and size.

inline void append_keyed_line(core::TextBuffer& out, u64 key, std::string_view line) {
  const auto head = std::bit_cast<std::array<char, 16>>(std::array<u64, 2>{key, line.size()});
  out.append(std::string_view{head.data(), head.size()});
  out.append(line);
}

// Calls `visit(key, line)` for all `lines`, which append_keyed_line() wrote.
template <class Visit>
void each_keyed_line(std::string_view lines, Visit visit) {
  while (!lines.empty()) {
    std::array<u64, 2> head;
    std::memcpy(head.data(), lines.data(), sizeof head);
    lines.remove_prefix(sizeof head);
    visit(head[0], lines.substr(0, head[1]));
    lines.remove_prefix(head[1]);
  }
}

}  // namespace coldtrace::cli
