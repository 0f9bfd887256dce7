#include "cli/trace/export/firefox_profile.hpp"

namespace coldtrace::cli {

using trace_analysis::Index;
using trace_analysis::nobody;
using trace_export::Turn;

void FirefoxProfile::add_marker(Index thread, Marker marker) {
  if (thread == nobody) return;
  if (marker.begin < 0)
    ++begun_before_;
  else if (has_room())
    threads_[thread].markers.push_back(std::move(marker));
}

bool FirefoxProfile::has_room() {
  if (kept_ == most_kept) {
    ++left_out_;
    return false;
  }
  ++kept_;
  return true;
}

// Before a turn of the thread.
void FirefoxProfile::add_wait(const Turn& turn) {
  if (turn.before != trace_analysis::Before::waiting || !turn.left || !turn.readied) return;
  add_marker(turn.thread, {names_.nanoseconds(*turn.left), names_.nanoseconds(*turn.readied),
                           Wait{turn.wait_reason, turn.waker, turn.woken_in_dpc}});
}

void FirefoxProfile::on_switch(const trace_export::ContextSwitch& record, const Turn* ended,
                               bool is_shown) {
  const auto cpu = *record.moment.cpu;
  if (cpu >= was_shown_.size()) was_shown_.resize(std::size_t{cpu} + 1);
  const bool was_shown = was_shown_[cpu];
  was_shown_[cpu] = is_shown;
  if (!was_shown || ended == nullptr) return;
  if (names_.population().threads()[ended->thread].idle_of) return;
  add_wait(*ended);
  if (ended->end && has_room())
    threads_[ended->thread].stays.push_back(
        {names_.nanoseconds(ended->begin), names_.nanoseconds(*ended->end)});
}

void FirefoxProfile::on_last_turn(const Turn& turn, bool) {
  if (!names_.population().threads()[turn.thread].idle_of) add_wait(turn);
}

void FirefoxProfile::on_call(const trace_export::Services::Seen& seen) {
  add_marker(seen.thread, {names_.nanoseconds(seen.begin), names_.nanoseconds(seen.end.time),
                           Call{seen.service}});
}

void FirefoxProfile::on_disk_request(const trace_export::DiskRequest& request) {
  if (!request.begin) return;
  add_marker(request.thread,
             {names_.nanoseconds(*request.begin), names_.nanoseconds(request.end.time),
              Disk{request.action, request.disk, request.bytes}});
}

void FirefoxProfile::on_file_operation(const trace_export::FileOperation& operation) {
  add_marker(operation.thread,
             {names_.nanoseconds(operation.begin), names_.nanoseconds(operation.end.time),
              File{operation.action, operation.file, operation.bytes, operation.status}});
}

void FirefoxProfile::on_region(const trace_export::Region& region) {
  add_marker(region.thread,
             {names_.nanoseconds(region.begin), names_.nanoseconds(region.end.time), region});
}

}  // namespace coldtrace::cli
