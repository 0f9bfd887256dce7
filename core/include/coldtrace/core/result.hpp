#pragma once

#include <utility>

#include <tl/expected.hpp>

#include "coldtrace/core/error.hpp"

namespace coldtrace::core {

// The one place that names tl::expected.
template <class T>
using Result = tl::expected<T, ParseError>;

// The value of an operation that only succeeds or fails.
struct Done {};

inline tl::unexpected<ParseError> fail(const ParseError& error) {
  return tl::unexpected<ParseError>{error};
}

}  // namespace coldtrace::core

// Evaluates to the value of a Result, or returns its error from the enclosing function.
#define COLDTRACE_TRY(expression)                                                    \
  __extension__({                                                                    \
    auto coldtrace_result = (expression);                                            \
    if (!coldtrace_result) return ::coldtrace::core::fail(coldtrace_result.error()); \
    std::move(*coldtrace_result);                                                    \
  })
