#pragma once

#include "coldtrace/trace_analysis/analysis.hpp"
#include "coldtrace/trace_analysis/event_pairs.hpp"

namespace coldtrace::trace_analysis {

// One pass over a trace for several analyses. Memory grows with the processes and threads of the
// trace, and with what the analyses keep.
class Observation {
 public:
  // `trace` must outlive the observation. Reads it once, for what is missing.
  Observation(const tracefile::AnyTrace& trace, const tracefile::StreamOptions& options);
  Observation(const tracefile::AnyTrace&&, const tracefile::StreamOptions&) = delete;
  Observation(const Observation&) = delete;
  Observation& operator=(const Observation&) = delete;

  // To be called once. Events of `pairs` are calls and returns beside all else that they are.
  void run(std::span<Analysis* const> analyses, EventPairs* pairs = nullptr);

  const Population& population() const { return population_; }
  const Losses& losses() const { return losses_; }
  const Observed& observed() const { return observed_; }
  u64 unread_buffers() const { return unread_buffers_; }

 private:
  const tracefile::AnyTrace& trace_;
  tracefile::StreamOptions options_;
  Population population_;
  Losses losses_;
  Observed observed_{population_, losses_, std::nullopt, std::nullopt};
  u64 unread_buffers_ = 0;
};

}  // namespace coldtrace::trace_analysis
