#include "coldtrace/trace_analysis/requests/disk_requests.hpp"

#include <algorithm>

#include "coldtrace/trace_analysis/records/ticks.hpp"

namespace coldtrace::trace_analysis {

void DiskRequests::on_disk_start(const DiskStart& record) {
  const auto place = open_.find(record.irp);
  if (place != open_.end()) {
    ++counts_.lost_ends;
    doubt(place->second.moment.time, record.moment.time);
    note_unseen_end(record.moment.time);
    begins_.erase(begins_.find(place->second.moment.time));
    begins_.insert(record.moment.time);
    place->second = record;
  } else if (open_.size() < most_open) {
    open_.emplace(record.irp, record);
    begins_.insert(record.moment.time);
  } else {
    ++counts_.left_out;
  }
}

// Nothing where the duration cannot be: it would have begun before the clock did.
std::optional<i64> DiskRequests::begin_of(const DiskEnd& record) const {
  if (!record.response) return std::nullopt;
  const auto response = counter_.to_ticks(*record.response);
  if (!response || *response > record.moment.time) return std::nullopt;
  return record.moment.time - *response;
}

// Begins lie within 14 us of where the duration has them: 1,231 of 1,231 requests of a trace of
// Windows 8.
std::optional<DiskStart> DiskRequests::take_start(const DiskEnd& record, std::optional<i64> begin) {
  if (!record.irp) return std::nullopt;
  const auto place = open_.find(*record.irp);
  if (place == open_.end()) return std::nullopt;
  const auto start = place->second;
  open_.erase(place);
  begins_.erase(begins_.find(start.moment.time));
  if (begin && counter_.millisecond() > 0) {
    const auto apart =
        ticks_between(std::min(*begin, start.moment.time), std::max(*begin, start.moment.time));
    if (apart > counter_.millisecond()) {
      ++counts_.contradictory;
      doubt(start.moment.time, record.moment.time);
      note_unseen_end(std::max(*begin, start.moment.time));
      return std::nullopt;
    }
  }
  return start;
}

// An id may have gone to another thread between begin and end.
void DiskRequests::set_thread(DiskRequest& request, const DiskEnd& record,
                              const std::optional<DiskStart>& start) {
  request.thread = start ? start->thread : record.thread;
  if (record.thread == nobody && request.thread != nobody) ++counts_.inferred;
  if (start || request.thread == nobody || !request.begin) return;
  const auto& life = observed_->population.threads()[request.thread].life;
  if (!life.start || *life.start <= *request.begin) return;
  request.thread = nobody;
  ++counts_.reused_threads;
}

// What ended before the trace is not known, nor which disk was done with what ended unseen.
void DiskRequests::set_service(DiskRequest& request) {
  const auto end = request.end.time;
  if (request.begin) request.response = ticks_between(*request.begin, end);
  if (!request.disk) return;
  const auto before = last_end_.find(*request.disk);
  if (before == last_end_.end() && last_end_.size() == most_disks) return;
  const bool first = before == last_end_.end();
  const auto seen_since = first ? *observed_->first : before->second;
  if (first)
    last_end_.emplace(*request.disk, end);
  else
    before->second = end;
  if (!request.begin || (first && *request.begin < seen_since)) return;
  const auto since = std::max(*request.begin, seen_since);
  if (unseen_end_ && *unseen_end_ > since) return;
  if (!observed_->losses.anywhere(since, end)) request.service = ticks_between(since, end);
}

void DiskRequests::on_disk_end(const DiskEnd& record) {
  const auto measured = begin_of(record);
  const auto start = take_start(record, measured);
  if (!start && !record.action) {
    ++counts_.lone_ends;
    doubt(*observed_->first, record.moment.time);
    note_unseen_end(record.moment.time);
    return;
  }
  ++counts_.requests;
  DiskRequest request{};
  request.end = record.moment;
  request.action = record.action ? *record.action : start->action;
  request.disk = record.disk || !start ? record.disk : start->disk;
  request.offset = record.offset || !start ? record.offset : start->offset;
  request.bytes = record.bytes || !start ? record.bytes : start->bytes;
  request.file = record.file;
  request.priority = record.priority;
  request.status = record.status;
  request.begin = measured;
  // Of an IRP whose end and next begin may be missing nothing says how long it took.
  if (!measured && start && start->moment.time <= record.moment.time &&
      !observed_->losses.anywhere(start->moment.time, record.moment.time))
    request.begin = start->moment.time;
  if (!request.begin) {
    ++counts_.untimed;
    doubt(*observed_->first, record.moment.time);
  }
  set_thread(request, record, start);
  set_service(request);
  each_(request);
}

void DiskRequests::note_unseen_end(i64 at_latest) {
  unseen_end_ = std::max(unseen_end_.value_or(at_latest), at_latest);
}

// They come in the order of their ends.
void DiskRequests::doubt(i64 from, i64 to) {
  Losses::Stretch stretch{from, std::max(from, to)};
  while (!uncertain_.empty() && uncertain_.back().to >= stretch.from) {
    stretch.from = std::min(stretch.from, uncertain_.back().from);
    stretch.to = std::max(stretch.to, uncertain_.back().to);
    uncertain_.pop_back();
  }
  if (uncertain_.size() == most_open) {
    stretch.from = uncertain_.back().from;
    uncertain_.pop_back();
  }
  uncertain_.push_back(stretch);
}

std::optional<i64> DiskRequests::first_open() const {
  if (begins_.empty()) return std::nullopt;
  return *begins_.begin();
}

bool DiskRequests::is_uncertain(i64 from, i64 to) const {
  if (!begins_.empty() && *begins_.begin() < to) return true;
  const auto after = std::partition_point(uncertain_.begin(), uncertain_.end(),
                                          [&](const auto& one) { return one.to <= from; });
  return after != uncertain_.end() && after->from < to;
}

std::vector<DiskStart> DiskRequests::open() const {
  std::vector<DiskStart> all;
  for (const auto& [irp, start] : open_) all.push_back(start);
  std::sort(all.begin(), all.end(), [](const DiskStart& a, const DiskStart& b) {
    return a.moment.time != b.moment.time ? a.moment.time < b.moment.time : a.irp < b.irp;
  });
  return all;
}

}  // namespace coldtrace::trace_analysis
