#pragma once

#include "coldtrace/where/where_expression.hpp"

namespace coldtrace::where {

// Collects how the values of an existing member compare: a single one, or the elements of a list. A
// comparison is true of a list if it is true of any element; `unequal` if no element is equal and,
// unless the list is empty, at least one can be compared.
class WhereMatches {
 public:
  void add(WhereMatch match) {
    any_ = true;
    matched_ |= match == WhereMatch::yes;
    comparable_ |= match != WhereMatch::incomparable;
  }

  [[nodiscard]] bool meet(const WhereTest& test) const {
    return test.turned() ? !matched_ && (comparable_ || !any_) : matched_;
  }

  [[nodiscard]] bool any() const { return any_; }
  [[nodiscard]] bool comparable() const { return comparable_; }

 private:
  bool any_ = false, matched_ = false, comparable_ = false;
};

}  // namespace coldtrace::where
