#pragma once

#include <cstddef>
#include <string_view>

#include "coldtrace/core/borrowed.hpp"

namespace coldtrace::core {

// Columns of a terminal that text of printable() takes: one for most characters, two for wide ones
// (East Asian, emoji), none for combining ones.
[[nodiscard]] std::size_t display_width(std::string_view text);

// As much of the front of `text`, or of its end, as fits in so many columns. An escape of
// printable() is not cut, and a character is not separated from the combining ones behind it.
[[nodiscard]] std::string_view fitting_front(std::string_view text, std::size_t columns);
template <TemporaryText T>
std::string_view fitting_front(T&&, std::size_t) = delete;
[[nodiscard]] std::string_view fitting_end(std::string_view text, std::size_t columns);
template <TemporaryText T>
std::string_view fitting_end(T&&, std::size_t) = delete;

}  // namespace coldtrace::core
