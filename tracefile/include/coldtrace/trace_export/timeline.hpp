#pragma once

#include <optional>
#include <set>
#include <vector>

#include "coldtrace/trace_analysis/processes/chosen_threads.hpp"
#include "coldtrace/trace_analysis/records/observation.hpp"
#include "coldtrace/trace_analysis/requests/disk_requests.hpp"
#include "coldtrace/trace_analysis/requests/file_io.hpp"
#include "coldtrace/trace_analysis/scheduling/turns.hpp"
#include "coldtrace/trace_analysis/services/services.hpp"
#include "coldtrace/trace_export/regions.hpp"
#include "coldtrace/tracefile/selection/event_selection.hpp"

namespace coldtrace::trace_export {

using trace_analysis::ContextSwitch;
using trace_analysis::DiskRequest;
using trace_analysis::FileOperation;
using trace_analysis::Index;
using trace_analysis::Moment;
using trace_analysis::nobody;
using trace_analysis::Observed;
using trace_analysis::Readied;
using trace_analysis::Services;
using trace_analysis::Turn;

// Receives what happened, as a timeline shows it: each thing once all of it is known, in the order
// of their ends. Times are in ticks.
class TimelineSink {
 public:
  virtual ~TimelineSink() = default;

  // A processor switches to another thread, which is shown or not. `ended` is the turn that this
  // ends, null at the first switch of a processor; it has no end if that is not known.
  virtual void on_switch(const ContextSwitch&, const Turn* /*ended*/, bool /*is_shown*/) {}
  // What a processor was doing when the trace ended, or before events that are missing up to the
  // end.
  virtual void on_last_turn(const Turn&, bool /*misses_events*/) {}
  virtual void on_ready(const Readied&) {}
  virtual void on_call(const Services::Seen&) {}
  virtual void on_disk_request(const DiskRequest&) {}
  virtual void on_file_operation(const FileOperation&) {}
  virtual void on_region(const Region&) {}
  virtual void finish(const Observed&) {}

 protected:
  TimelineSink() = default;
  TimelineSink(const TimelineSink&) = default;
  TimelineSink& operator=(const TimelineSink&) = default;
};

// Joins what the analyses find into one timeline of the selected processes, threads and events.
// What the analyses do not know because of losses is not in it. A selection of events selects what
// they report: the turn that begins with a switch, the call that ends with its return. All events
// are analysed, so that what is left out does not affect the rest.
class Timeline final : public trace_analysis::Analysis, public trace_analysis::EventWitness {
 public:
  // All but the selection must outlive it.
  Timeline(core::Borrowed<tracefile::AnyTrace> trace, const tracefile::EventSelection& selection,
           trace_analysis::CodeNames& code, TimelineSink& sink);
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  [[nodiscard]] const Services& services() const { return services_; }
  [[nodiscard]] const trace_analysis::FileTable& files() const { return files_.files(); }
  [[nodiscard]] const trace_analysis::Turns& turns() const { return turns_; }
  [[nodiscard]] const trace_analysis::DiskRequests& disks() const { return disks_; }
  [[nodiscard]] const trace_analysis::FileIo& file_operations() const { return files_; }
  [[nodiscard]] u64 shown() const { return shown_; }  // things that the sink was told
  // Whether what the thread does is shown.
  [[nodiscard]] bool is_chosen(Index thread) const;
  // Of the selection; empty if all events are wanted.
  [[nodiscard]] std::optional<core::NoMatch> unmatched() const;

  void on_event(const tracefile::Event& event, Index thread) override;

  void begin(const Observed& observed) override;
  void on_switch(const ContextSwitch& record) override;
  void on_ready(const Readied& record) override;
  void on_call(const trace_analysis::CallRecord& record) override { services_.on_call(record); }
  void on_service_name(const trace_analysis::ServiceName& record) override {
    services_.on_service_name(record);
  }
  void on_interruption(const trace_analysis::Interruption& record) override {
    services_.on_interruption(record);
  }
  void on_disk_start(const trace_analysis::DiskStart& record) override {
    disks_.on_disk_start(record);
  }
  void on_disk_end(const trace_analysis::DiskEnd& record) override { disks_.on_disk_end(record); }
  void on_file_start(const trace_analysis::FileStart& record) override {
    files_.on_file_start(record);
  }
  void on_file_end(const trace_analysis::FileEnd& record) override { files_.on_file_end(record); }
  void on_thread(const trace_analysis::ThreadRecord& record) override;
  void finish(const Observed& observed) override;

 private:
  // Whether the current event and the thread are selected.
  bool is_wanted(Index thread) const { return event_wanted_ && is_chosen(thread); }
  void end_turn(const Turn& turn);

  trace_analysis::ChosenThreads chosen_;
  tracefile::EventSelection of_events_;  // the part that is decided event by event
  std::optional<tracefile::EventSelector> selector_;
  TimelineSink& sink_;
  Regions regions_;
  trace_analysis::Turns turns_;
  Services services_;
  trace_analysis::DiskRequests disks_;
  trace_analysis::FileIo files_;
  const Observed* observed_ = nullptr;
  bool event_wanted_ = true;
  bool at_end_ = false;
  std::vector<bool> is_shown_;  // by processor: its current turn
  std::optional<Turn> ended_;   // by the current switch
  u64 shown_ = 0;
};

}  // namespace coldtrace::trace_export
