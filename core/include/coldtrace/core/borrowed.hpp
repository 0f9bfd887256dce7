#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

namespace coldtrace::core {

// An argument whose address the callee keeps: it has to outlive what is made from it, and a
// temporary does not compile.
template <class T>
using Borrowed = std::reference_wrapper<const T>;

// A named list, or a view of one: it outlives the statement in which it is used.
template <class List, class T>
concept OutlivesStatement = std::is_convertible_v<List, std::span<const T>> &&
    (std::is_lvalue_reference_v<List> ||
     std::ranges::enable_borrowed_range<std::remove_cvref_t<List>>);

// As Borrowed, for contiguous elements: a temporary container does not compile.
template <class T>
class BorrowedSpan {
 public:
  BorrowedSpan() = default;
  template <OutlivesStatement<T> List>
  // NOLINTNEXTLINE(google-explicit-constructor,bugprone-forwarding-reference-overload)
  BorrowedSpan(List&& elements) : elements_{std::forward<List>(elements)} {}

  [[nodiscard]] std::span<const T> get() const { return elements_; }

 private:
  std::span<const T> elements_;
};

using BorrowedBytes = BorrowedSpan<std::byte>;

// Bytes that end with the statement in which they are used: functions that return a view of a part
// of their argument are deleted for them.
template <class T>
concept TemporaryBytes =
    std::is_convertible_v<T, std::span<const std::byte>> && !OutlivesStatement<T, std::byte>;

// A string that ends with the statement in which it is used: functions that return a view of a part
// of their argument are deleted for it.
template <class T>
concept TemporaryText = std::is_same_v<T, std::string>;

}  // namespace coldtrace::core
