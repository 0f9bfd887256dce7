#pragma once

#include "coldtrace/where/where_expression.hpp"

namespace coldtrace::where {

// How the values of a member that is there compare, one or those of a list. A comparison is true of
// a list if it is of any element, `unequal` if it is of all: none is equal, and some can be
// compared at all, unless the list is empty.
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
