#include "coldtrace/trace_export/disk_stacks.hpp"

#include <algorithm>

#include "coldtrace/trace_analysis/records/ticks.hpp"

namespace coldtrace::trace_export {

using trace_analysis::DiskRequest;
using trace_analysis::DiskRequests;
using trace_analysis::Frame;

void DiskStacks::begin(const trace_analysis::Observed& observed) {
  population_ = &observed.population;
  requests_.begin(observed);
}

void DiskStacks::on_disk_start(const trace_analysis::DiskStart& record) {
  requests_.on_disk_start(record);
  const auto slot = join_.expect(record.moment.time, record.thread);
  const auto known = begun_.find(record.irp);
  if (known != begun_.end()) {
    join_.release(known->second);
    known->second = slot;
  } else if (begun_.size() < DiskRequests::most_open) {
    begun_.emplace(record.irp, slot);
  } else {
    join_.release(slot);
  }
}

void DiskStacks::on_disk_end(const trace_analysis::DiskEnd& record) {
  ending_.reset();
  const auto known = record.irp ? begun_.find(*record.irp) : begun_.end();
  if (known != begun_.end()) {
    ending_ = known->second;
    begun_.erase(known);
  }
  requests_.on_disk_end(record);
  if (ending_) join_.release(*ending_);
}

void DiskStacks::end_request(const DiskRequest& request) {
  pending_.push_back({request, std::exchange(ending_, std::nullopt)});
  while (pending_.size() > trace_analysis::most_pending ||
         (!pending_.empty() && join_.frames_held() > trace_analysis::most_pending_frames))
    take_oldest();
}

// The event of the begin lies where the duration of the request has it, or the IRP is another
// one's.
bool DiskStacks::is_of(const DiskRequest& request, Slot slot) const {
  if (!request.begin) return false;
  const auto time = join_.time_of(slot);
  const auto [early, late] = std::minmax(time, *request.begin);
  return early == late || trace_analysis::ticks_between(early, late) <= counter_.millisecond();
}

void DiskStacks::take_oldest() {
  const auto& [request, slot] = pending_.front();
  path_.clear();
  path_.push_back({Frame::Kind::thread, request.thread});
  if (slot && is_of(request, *slot))
    append_frames(path_, join_.frames(*slot), code_, pid_of(*population_, request.thread),
                  *request.begin);
  path_.push_back({Frame::Kind::disk, static_cast<u32>(request.action)});
  if (request.begin)
    tree_.add(path_, {1, trace_analysis::ticks_between(*request.begin, request.end.time), 0});
  if (slot) join_.release(*slot);
  pending_.pop_front();
}

void DiskStacks::finish(const trace_analysis::Observed&) {
  while (!pending_.empty()) take_oldest();
}

}  // namespace coldtrace::trace_export
