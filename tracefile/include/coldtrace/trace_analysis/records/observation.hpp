#pragma once

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/trace_analysis/records/analysis.hpp"
#include "coldtrace/trace_analysis/records/event_pairs.hpp"

namespace coldtrace::trace_analysis {

// Sees every event of a trace, before the record that it may become.
class EventWitness {
 public:
  virtual ~EventWitness() = default;
  // `thread` is that of the header, nobody if there is none.
  virtual void on_event(const tracefile::Event& event, Index thread) = 0;

 protected:
  EventWitness() = default;
  EventWitness(const EventWitness&) = default;
  EventWitness& operator=(const EventWitness&) = default;
};

// One pass over a trace for several analyses. Memory grows with the processes and threads of the
// trace, and with what the analyses keep.
class Observation {
 public:
  // `trace` must outlive the observation. Reads it once, to find what is missing.
  Observation(core::Borrowed<tracefile::AnyTrace> trace, const tracefile::StreamOptions& options);
  Observation(const Observation&) = delete;
  Observation& operator=(const Observation&) = delete;

  // To be called once. Events of `pairs` are calls and returns in addition to all else that they
  // are.
  void run(std::span<Analysis* const> analyses, EventPairs* pairs = nullptr,
           EventWitness* witness = nullptr);

  [[nodiscard]] const Population& population() const { return population_; }
  [[nodiscard]] const Losses& losses() const { return losses_; }
  [[nodiscard]] const Observed& observed() const { return observed_; }
  // Buffers that one of the two readings could not read.
  [[nodiscard]] u64 unread_buffers() const { return unread_buffers_; }

 private:
  const tracefile::AnyTrace& trace_;
  tracefile::StreamOptions options_;
  Population population_;
  Losses losses_;
  Observed observed_{population_, losses_, std::nullopt, std::nullopt};
  u64 unread_buffers_ = 0;
};

}  // namespace coldtrace::trace_analysis
