#pragma once

#include <type_traits>
#include <utility>

#include <tl/expected.hpp>

#include "coldtrace/core/error.hpp"

namespace coldtrace::core {

// A value, or why there is none. The only place that names tl::expected, which is not itself
// [[nodiscard]] and gives access to the value and the error of a temporary: unchecked, and gone
// with the statement, along with whatever a view refers to. Its value() throws.
template <class T, class E>
class [[nodiscard]] Expected : public tl::expected<T, E> {
  using Base = tl::expected<T, E>;

 public:
  using Base::Base;

  constexpr const T* operator->() const& { return Base::operator->(); }
  constexpr T* operator->() & { return Base::operator->(); }
  constexpr const T* operator->() const&& = delete;
  constexpr const T& operator*() const& { return Base::operator*(); }
  constexpr T& operator*() & { return Base::operator*(); }
  constexpr const T& operator*() const&& = delete;
  void value() const = delete;

  [[nodiscard]] constexpr const E& error() const& { return Base::error(); }
  [[nodiscard]] constexpr E& error() & { return Base::error(); }
  constexpr const E& error() const&& = delete;
};

// What was read, or where and why it was not.
template <class T>
using Result = Expected<T, ParseError>;

// The value of an operation that only succeeds or fails.
struct Done {};

// What a function returning a Result returns on failure.
template <class E = ParseError>
[[nodiscard]] tl::unexpected<std::remove_cvref_t<E>> fail(E&& error) {
  return tl::unexpected<std::remove_cvref_t<E>>{std::forward<E>(error)};
}

}  // namespace coldtrace::core

// Evaluates to the value of a Result, or returns its error from the enclosing function.
#define COLDTRACE_TRY(expression)                                                    \
  __extension__({                                                                    \
    auto coldtrace_result = (expression);                                            \
    if (!coldtrace_result) return ::coldtrace::core::fail(coldtrace_result.error()); \
    std::move(*coldtrace_result);                                                    \
  })
