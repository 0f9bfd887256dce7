#include <string>
#include <utility>

#include "coldtrace/core/display_width.hpp"
#include "coldtrace/core/file_name.hpp"
#include "coldtrace/core/printable.hpp"
#include "coldtrace/core/symbol_name.hpp"

// A part of a text that ends with the statement would dangle: it does not compile. One with a name,
// a literal and a view do.
namespace coldtrace::core {
namespace {

template <class T>
concept has_name = requires(T&& text) {
  file_name(std::forward<T>(text));
};
template <class T>
concept has_plain_name = requires(T&& text) {
  undecorated(std::forward<T>(text));
};
template <class T>
concept has_character = requires(T&& text) {
  first_character(std::forward<T>(text));
};
template <class T>
concept has_front = requires(T&& text) {
  fitting_front(std::forward<T>(text), 1);
};
template <class T>
concept has_end = requires(T&& text) {
  fitting_end(std::forward<T>(text), 1);
};

template <class T>
concept gives_all =
    has_name<T> && has_plain_name<T> && has_character<T> && has_front<T> && has_end<T>;
template <class T>
concept gives_any =
    has_name<T> || has_plain_name<T> || has_character<T> || has_front<T> || has_end<T>;

static_assert(!gives_any<std::string>);
static_assert(gives_all<std::string&> && gives_all<const std::string&>);
static_assert(gives_all<const char (&)[4]> && gives_all<const char*>);
static_assert(gives_all<std::string_view> && gives_all<const std::string_view&>);

}  // namespace
}  // namespace coldtrace::core
