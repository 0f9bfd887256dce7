#pragma once

#include <deque>
#include <unordered_map>

#include "coldtrace/trace_analysis/processors/running_stacks.hpp"
#include "coldtrace/trace_analysis/requests/disk_requests.hpp"

namespace coldtrace::trace_export {

// Which code issued disk requests: their time from begin to end by call path, which is the stack of
// the event that begins them, then what was asked for. Without that event there is no stack.
class DiskStacks final : public trace_analysis::Analysis {
 public:
  // `code` must outlive it.
  DiskStacks(trace_analysis::CounterTicks counter, trace_analysis::CodeNames& code)
      : counter_{counter}, code_{code}, requests_{counter, [this](const auto& request) {
                                                    end_request(request);
                                                  }} {}
  DiskStacks(const DiskStacks&) = delete;
  DiskStacks& operator=(const DiskStacks&) = delete;

  [[nodiscard]] const trace_analysis::CallTree& tree() const { return tree_; }
  [[nodiscard]] const trace_analysis::StackJoin& stacks() const { return join_; }

  void begin(const trace_analysis::Observed& observed) override;
  void on_disk_start(const trace_analysis::DiskStart& record) override;
  void on_disk_end(const trace_analysis::DiskEnd& record) override;
  void on_stack(const trace_analysis::StackWalk& record) override { join_.add(record); }
  void finish(const trace_analysis::Observed& observed) override;

 private:
  using Slot = trace_analysis::StackJoin::Slot;
  bool is_of(const trace_analysis::DiskRequest& request, Slot slot) const;
  struct Pending {
    trace_analysis::DiskRequest request;
    std::optional<Slot> slot;
  };

  void end_request(const trace_analysis::DiskRequest& request);
  void take_oldest();

  trace_analysis::CounterTicks counter_;
  trace_analysis::CodeNames& code_;
  trace_analysis::DiskRequests requests_;
  trace_analysis::StackJoin join_;
  trace_analysis::CallTree tree_;
  std::unordered_map<u64, Slot> begun_;  // by IRP
  std::optional<Slot> ending_;           // of the current request
  std::deque<Pending> pending_;
  std::vector<trace_analysis::Frame> path_;
  const trace_analysis::Population* population_ = nullptr;
};

}  // namespace coldtrace::trace_export
