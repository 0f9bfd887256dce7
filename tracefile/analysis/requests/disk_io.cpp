#include "coldtrace/trace_analysis/requests/disk_io.hpp"

#include <algorithm>

#include "coldtrace/core/ascii.hpp"
#include "coldtrace/trace_analysis/records/ticks.hpp"
#include "tracefile/analysis/records/byte_sums.hpp"
#include "tracefile/analysis/records/grown.hpp"

namespace coldtrace::trace_analysis {
namespace {

char folded(char c) {
  return c == '\\' ? '/' : core::to_lower(c);
}

// "\Device\HarddiskVolume2\Windows\a.txt" and "/Windows/a.txt".
bool is_same_file(std::string_view traced, std::string_view path) {
  if (traced.size() < path.size()) return false;
  const auto tail = traced.substr(traced.size() - path.size());
  const auto volume = traced.substr(0, traced.size() - path.size());
  if (std::count(volume.begin(), volume.end(), '\\') > 2) return false;
  return std::equal(tail.begin(), tail.end(), path.begin(),
                    [](char a, char b) { return folded(a) == folded(b); });
}

}  // namespace

void DiskSums::add(const DiskRequest& request) {
  ++requests[static_cast<std::size_t>(request.action)];
  if (request.action == DiskAction::read) add_bytes(bytes_read, request.bytes);
  if (request.action == DiskAction::write) add_bytes(bytes_written, request.bytes);
  if (is_error(request.status.value_or(0))) ++failed;
  if (!request.response) return;
  add_ticks(response, *request.response);
  responses.add(static_cast<u64>(*request.response));
  if (!request.service) return;
  ++served;
  add_ticks(service, *request.service);
  add_ticks(queue, *request.response - *request.service);
}

void DiskSums::add(const DiskSums& other) {
  for (std::size_t i = 0; i < requests.size(); ++i) requests[i] += other.requests[i];
  add_bytes(bytes_read, other.bytes_read);
  add_bytes(bytes_written, other.bytes_written);
  failed += other.failed;
  served += other.served;
  add_ticks(service, other.service);
  add_ticks(queue, other.queue);
  add_ticks(response, other.response);
  responses.add(other.responses);
}

u64 DiskSums::count() const {
  u64 count = 0;
  for (const auto one : requests) count += one;
  return count;
}

DiskIo::DiskIo(core::Borrowed<tracefile::NameTables> names, std::optional<Snapshot> snapshot,
               CounterTicks counter, Sink each, BusySink busy)
    : names_{names.get()},
      snapshot_{snapshot},
      each_{std::move(each)},
      busy_{std::move(busy)},
      requests_{counter, [this](const DiskRequest& request) { add(request); }} {}

void DiskIo::begin(const Observed& observed) {
  observed_ = &observed;
  requests_.begin(observed);
}

// By the trace if it can: it knows what was there then.
u32 DiskIo::number_of(std::string_view traced_name, const DiskMap::File* snapshot) {
  if (snapshot != nullptr) {
    ++agreement_.named;
    if (!traced_name.empty())
      ++(is_same_file(traced_name, snapshot->path) ? agreement_.alike : agreement_.unlike);
  }
  if (!traced_name.empty()) return files_.number_of(traced_name);
  return snapshot != nullptr ? files_.number_of(*snapshot) : 0;
}

DiskIo::Disk& DiskIo::disk_of(std::optional<u32> number) {
  const auto known = disks_.find(number);
  if (known != disks_.end()) return known->second;
  if (number && disks_.size() >= DiskRequests::most_disks) {
    ++to_other_disks_;
    return disk_of(std::nullopt);
  }
  auto& disk = disks_[number];
  if (number && busy_)
    disk.busy =
        BusyTime{[this, number](const BusyTime::Interval& interval) { busy_(*number, interval); }};
  return disk;
}

void DiskIo::add(const DiskRequest& request) {
  const DiskMap::File* snapshot = nullptr;
  if (snapshot_ && request.offset && request.disk == snapshot_->disk)
    snapshot = snapshot_->map.get().find(*request.offset);
  std::string_view name;
  if (request.file) name = names_.find_file(*request.file, request.end.time).value_or("");
  const auto file = number_of(name, snapshot);
  all_.add(request);
  auto& of_disk = disk_of(request.disk);
  of_disk.sums.add(request);
  if (request.begin)
    of_disk.busy.add(std::max(*request.begin, *observed_->first), request.end.time,
                     {request.thread, nobody, file});
  grown(of_files_, file).add(request);
  of_threads_[request.thread].add(request);
  of_priorities_[request.priority].add(request);
  if (request.bytes) sizes_.add(*request.bytes);
  if (each_) each_({request, file, name, snapshot});
}

bool DiskIo::has_snapshot_of_other_disk() const {
  return snapshot_ && !disks_.empty() && to_other_disks_ == 0 && disks_.count(snapshot_->disk) == 0;
}

void DiskIo::finish(const Observed& observed) {
  for (const auto& start : requests_.open())
    if (start.disk) disk_of(start.disk);
  for (auto& [number, disk] : disks_) disk.busy.finish();
  // A rundown at the end may be the first to say whose a thread is.
  for (const auto& [thread, sums] : of_threads_)
    of_processes_[thread == nobody ? nobody : observed.population.threads()[thread].process].add(
        sums);
}

}  // namespace coldtrace::trace_analysis
