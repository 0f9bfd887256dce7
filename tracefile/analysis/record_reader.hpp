#pragma once

#include <vector>

#include "coldtrace/trace_analysis/analysis.hpp"
#include "tracefile/analysis/event_fields.hpp"

namespace coldtrace::trace_analysis {

// Turns the events of a trace, in the order of time, into records for analyses. Knows which events
// of which provider say the same thing (record_reader.cpp has the table).
class RecordReader {
 public:
  // All must outlive the reader.
  RecordReader(const tracefile::SchemaSource& schemas, Population& population,
               std::span<Analysis* const> analyses)
      : decoder_{schemas}, population_{population}, analyses_{analyses} {}

  // Whether the event became a record.
  bool read(const tracefile::Event& event);

  // Events of known kinds that could not be read to the fields that matter.
  u64 unreadable() const { return unreadable_; }

 private:
  struct KnownEvent;
  using Handler = bool (RecordReader::*)(const tracefile::Event&);
  struct Plan {
    bool looked_up = false;
    unsigned pointer_size = 0;
    const KnownEvent* known = nullptr;
    FieldPlan fields;
  };

  static const KnownEvent* find_known(const tracefile::EventKind& kind);
  static std::span<const KnownEvent> known_events();
  const Plan& plan_of(const tracefile::Event& event, const tracefile::EventKind& kind);

  bool context_switch(const tracefile::Event& event);
  bool readied(const tracefile::Event& event);
  bool wait_begin(const tracefile::Event& event);
  bool wait_begin_of_several(const tracefile::Event& event);
  bool wait_satisfied(const tracefile::Event& event);
  bool wait_end(const tracefile::Event& event);
  template <Service::Kind kind, bool enters>
  bool call(const tracefile::Event& event);
  template <bool enters>
  bool vxd_call(const tracefile::Event& event);
  bool vxd_service_named(const tracefile::Event& event);
  template <Service::Kind kind>
  bool interruption(const tracefile::Event& event);
  template <Life life>
  bool process(const tracefile::Event& event);
  template <Life life>
  bool thread(const tracefile::Event& event);
  bool thread_named(const tracefile::Event& event);

  Index waiting_thread();
  Index thread_of(std::optional<u32> tid, std::optional<u16> cpu);
  Index header_thread(const tracefile::Event& event);
  void set_process(Index thread, std::optional<u32> pid);
  Index running(std::optional<u16> cpu) const;
  Moment moment_of(const tracefile::Event& event) const;

  tracefile::EventDecoder decoder_;
  Population& population_;
  std::span<Analysis* const> analyses_;
  std::vector<Plan> plans_;     // by number of kind, one for each size of pointers
  FieldValues values_;          // of the current event
  std::vector<Index> running_;  // by processor, as its last switch says
  u64 unreadable_ = 0;
};

}  // namespace coldtrace::trace_analysis
