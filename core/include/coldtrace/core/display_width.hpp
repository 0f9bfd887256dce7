#pragma once

#include <cstddef>
#include <string_view>

#include "coldtrace/core/borrowed.hpp"

namespace coldtrace::core {

// Columns of a terminal that text of printable() takes: of most characters one, of wide ones (East
// Asian, emoji) two, of those that are drawn over the one before none.
[[nodiscard]] std::size_t display_width(std::string_view text);

// As much of the front of `text`, or of its end, as has room in so many columns. Neither an escape
// of printable() is cut nor a character apart from those that are drawn over it.
[[nodiscard]] std::string_view fitting_front(std::string_view text, std::size_t columns);
template <TemporaryText T>
std::string_view fitting_front(T&&, std::size_t) = delete;
[[nodiscard]] std::string_view fitting_end(std::string_view text, std::size_t columns);
template <TemporaryText T>
std::string_view fitting_end(T&&, std::size_t) = delete;

}  // namespace coldtrace::core
