#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

namespace coldtrace::core {

// An argument that the callee keeps the address of: it has to outlive what is made of it, and a
// temporary does not compile.
template <class T>
using Borrowed = std::reference_wrapper<const T>;

// A list with a name, or a view of one: it does not end with the statement that it stands in.
template <class List, class T>
concept OutlivesStatement = std::is_convertible_v<List, std::span<const T>> &&
    (std::is_lvalue_reference_v<List> ||
     std::ranges::enable_borrowed_range<std::remove_cvref_t<List>>);

// The same of elements that lie one after the other: a container that ends with the statement does
// not compile.
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

// Bytes that end with the statement that they stand in: functions that return a part of their
// argument as a view are deleted for them.
template <class T>
concept TemporaryBytes =
    std::is_convertible_v<T, std::span<const std::byte>> && !OutlivesStatement<T, std::byte>;

// A text that ends with the statement that it stands in: functions that return a part of their
// argument as a view are deleted for it.
template <class T>
concept TemporaryText = std::is_same_v<T, std::string>;

}  // namespace coldtrace::core
