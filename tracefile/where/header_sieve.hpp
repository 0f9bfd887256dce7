#pragma once

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/tracefile/events/event_sieve.hpp"
#include "coldtrace/tracefile/where/where_expression.hpp"

namespace coldtrace::tracefile {

// Lets events through that an expression may be true of, as far as their headers tell.
class HeaderSieve final : public EventSieve {
 public:
  // The expression must outlive the sieve.
  explicit HeaderSieve(core::Borrowed<WhereExpression> where) : where_{where.get()} {}
  [[nodiscard]] bool lets_through(const Event& event) const override;

 private:
  Truth truth(const WhereTest& test, const Event& event) const;

  const WhereExpression& where_;
};

// Whether one of its tests is of what a header has, and none of fields: what EventFilter::report()
// tells of these needs all events.
[[nodiscard]] bool can_sift(const WhereExpression& where);

}  // namespace coldtrace::tracefile
