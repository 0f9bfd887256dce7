#include <array>
#include <utility>
#include <vector>

#include "coldtrace/core/reader.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/core/utf16.hpp"

// A part of bytes that end with the statement would dangle: it does not compile. A container with a
// name and a view do.
namespace coldtrace::core {
namespace {

template <class T>
concept has_slice = requires(T&& bytes) {
  slice(std::forward<T>(bytes), 0, 1);
};
template <class T>
concept has_fields = requires(T&& bytes) {
  Fields<4>::at(std::forward<T>(bytes), 0);
};
template <class T>
concept has_chars = requires(T&& bytes) {
  to_chars(std::forward<T>(bytes));
};
template <class T>
concept has_c_string = requires(T&& bytes) {
  read_c_string(std::forward<T>(bytes), 1);
};
template <class T>
concept has_units = requires(T&& bytes) {
  until_nul_unit(std::forward<T>(bytes));
};

template <class T>
concept gives_all =
    has_slice<T> && has_fields<T> && has_chars<T> && has_c_string<T> && has_units<T>;
template <class T>
concept gives_any =
    has_slice<T> || has_fields<T> || has_chars<T> || has_c_string<T> || has_units<T>;

using Vector = std::vector<std::byte>;
using Array = std::array<std::byte, 4>;

static_assert(!gives_any<Vector> && !gives_any<const Vector> && !gives_any<Array>);
static_assert(gives_all<Vector&> && gives_all<const Vector&> && gives_all<Array&>);
static_assert(gives_all<ByteView> && gives_all<const ByteView&>);
static_assert(gives_all<std::span<std::byte>>);

}  // namespace
}  // namespace coldtrace::core
