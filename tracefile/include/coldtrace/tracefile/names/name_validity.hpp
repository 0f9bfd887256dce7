#pragma once

#include <algorithm>
#include <limits>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::tracefile {

// From when to when a look-up at `time` gives the same result. Whoever looks up reports each time
// that it compares with.
class NameValidity {
 public:
  explicit NameValidity(i64 time) : time_{time} {}

  // What is known changes at `change`.
  void changes_at(i64 change) {
    if (change <= time_)
      from_ = std::max(from_, change);
    else
      to_ = std::min(to_, change);
  }

  [[nodiscard]] i64 from() const { return from_; }
  [[nodiscard]] i64 to() const { return to_; }  // not included

 private:
  i64 time_;
  i64 from_ = std::numeric_limits<i64>::min();
  i64 to_ = std::numeric_limits<i64>::max();
};

}  // namespace coldtrace::tracefile
