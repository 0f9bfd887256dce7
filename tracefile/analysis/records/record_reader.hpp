#pragma once

#include <vector>

#include "coldtrace/trace_analysis/records/analysis.hpp"
#include "coldtrace/tracefile/names/event_stack.hpp"
#include "tracefile/analysis/records/event_plans.hpp"

namespace coldtrace::trace_analysis {

// What an event has where it knows no thread or process.
inline constexpr u32 unknown_id = 0xffff'ffff;

// Turns the events of a trace, in the order of time, into records for analyses. Knows which events
// of which provider say the same thing from known_events.hpp.
class RecordReader {
 public:
  // All must outlive the reader. Without `pairs` there are none.
  RecordReader(const tracefile::SchemaSource& schemas, const tracefile::StackTable& stacks,
               const Losses& losses, Population& population, std::span<Analysis* const> analyses,
               EventPairs* pairs = nullptr)
      : plans_{schemas, pairs},
        stacks_{stacks},
        losses_{losses},
        population_{population},
        analyses_{analyses} {}

  // Whether the event became a record.
  bool read(const tracefile::Event& event);

  // To be called once, after all events.
  void finish();

  // Whose id that is; nobody of none.
  Index thread_of(std::optional<u32> tid, std::optional<u16> cpu);

  // Events of known kinds that could not be read to the fields that matter.
  u64 unreadable() const { return unreadable_; }

 private:
  void read_pair(const tracefile::Event& event, const EventPlans::PairPlan& plan);
  bool read(const tracefile::Event& event, const KnownEvent& known);
  bool context_switch(const tracefile::Event& event);
  bool readied(const tracefile::Event& event);
  bool priority_change(const tracefile::Event& event, PriorityChange::Kind kind);
  bool affinity_change(const tracefile::Event& event);
  bool message(const tracefile::Event& event, MessageRecord::Kind kind);
  bool collision(const tracefile::Event& event);
  bool wait_begin(const tracefile::Event& event);
  bool wait_begin_of_several(const tracefile::Event& event);
  bool wait_satisfied(const tracefile::Event& event);
  bool wait_end(const tracefile::Event& event);
  bool call(const tracefile::Event& event, Service::Kind kind, bool enters);
  bool vxd_call(const tracefile::Event& event, bool enters);
  bool vxd_service_named();
  bool interruption(const tracefile::Event& event, Service::Kind kind);
  bool sample(const tracefile::Event& event);
  bool stack(const tracefile::Event& event, const KnownEvent& known);
  bool process(const tracefile::Event& event, Life life);
  bool thread(const tracefile::Event& event, Life life);
  bool thread_named(const tracefile::Event& event);
  bool disk_start(const tracefile::Event& event, std::optional<DiskAction> action);
  bool disk_end(const tracefile::Event& event, std::optional<DiskAction> action);

  bool file_start(const tracefile::Event& event, std::optional<FileAction> action);
  bool file_end(const tracefile::Event& event);
  bool network_transfer(const tracefile::Event& event, RecordKind kind);
  bool network_start(const tracefile::Event& event);
  bool network_end(const tracefile::Event& event);

  Index waiting_thread();
  Index living_thread(u32 tid, u16 cpu);
  Index issuing_thread();
  Index issuer_of(const tracefile::Event& event);
  Index header_thread(const tracefile::Event& event);
  Index creator_of(const tracefile::Event& event);
  void set_process(Index thread, std::optional<u32> pid);
  void note_listed(Index process, Life life);
  Index running(const tracefile::Event& event) const;
  Moment moment_of(const tracefile::Event& event) const;

  EventPlans plans_;
  const tracefile::StackTable& stacks_;
  const Losses& losses_;
  Population& population_;
  std::span<Analysis* const> analyses_;
  FieldValues values_;           // of the current event
  tracefile::EventStack stack_;  // likewise
  struct Runner {
    Index thread = nobody;
    i64 since = 0;
  };
  std::vector<Runner> running_;  // by processor, as its last switch says
  // Of each process its place in the rundowns at the start and at the end, from 1 on; 0: in none.
  struct Listed {
    u32 at_start = 0, at_end = 0;
  };
  std::vector<Listed> listed_;
  Listed last_listed_;
  u64 unreadable_ = 0;
};

}  // namespace coldtrace::trace_analysis
