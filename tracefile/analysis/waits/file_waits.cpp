#include "coldtrace/trace_analysis/waits/file_waits.hpp"

#include <algorithm>
#include <utility>

#include "coldtrace/trace_analysis/processors/disk_waits.hpp"
#include "coldtrace/trace_analysis/records/ticks.hpp"
#include "tracefile/analysis/records/grown.hpp"

namespace coldtrace::trace_analysis {

FileWaits::FileWaits(CounterTicks counter, core::Borrowed<tracefile::NameTables> names, Sink each)
    : tenth_of_millisecond_{counter.millisecond() / 10},
      each_{std::move(each)},
      turns_{[this](const Turn& turn) { end_turn(turn); }},
      files_{names, [this](const FileOperation& operation) { end_operation(operation); }} {}

void FileWaits::begin(const Observed& observed) {
  turns_.begin(observed);
  files_.begin(observed);
}

void FileWaits::on_file_start(const FileStart& record) {
  files_.on_file_start(record);
  if (record.thread != nobody) ++grown(threads_, record.thread).under_way;
}

void FileWaits::end_operation(const FileOperation& operation) {
  if (operation.thread == nobody) return;
  auto& thread = grown(threads_, operation.thread);
  if (thread.under_way > 0) --thread.under_way;
  const auto left = departures_.of(operation.thread);
  if (!left || operation.begin > left->time) return;
  if (thread.ended.size() == most_kept) thread.ended.erase(thread.ended.begin());
  thread.ended.push_back({operation});
  if (operation.end.cpu) grown(ended_on_, *operation.end.cpu).push_back(operation.thread);
}

// A routine is told once it is done: what ended while it ran, it ended, not the thread.
void FileWaits::on_interruption(const Interruption& record) {
  if (!record.moment.cpu) return;
  for (const auto index : grown(ended_on_, *record.moment.cpu))
    for (auto& one : threads_[index].ended)
      if (one.operation.end.cpu == record.moment.cpu && one.operation.end.time >= record.begin)
        one.in_interrupt = true;
}

void FileWaits::on_switch(const ContextSwitch& record) {
  turns_.on_switch(record);
  departures_.on_switch(record);
  if (*record.moment.cpu < ended_on_.size()) ended_on_[*record.moment.cpu].clear();
}

void FileWaits::count(const FileOperation& operation, const Wait& wait, How how) {
  if (each_) each_({operation.thread, wait.since.time, operation.file, operation.action});
  auto* const known = edge(operation.thread, operation.file, operation.action);
  if (known == nullptr) return;
  known->ended.add(wait.length, wait.since);
  if (how == How::by_itself) ++known->by_itself;
  if (how == How::by_completion) ++known->by_completion;
}

std::optional<FileWaits::How> FileWaits::explains(const FileOperation& operation,
                                                  const Turn& turn) const {
  const auto end = operation.end.time;
  if (!turn.left || !turn.readied || end < *turn.left || end > *turn.readied) return std::nullopt;
  if (operation.end.cpu && operation.end.cpu == turn.readied_on &&
      ticks_between(end, *turn.readied) <= tenth_of_millisecond_)
    return How::by_completion;
  return is_about(ticks_between(*turn.left, *turn.readied), ticks_between(operation.begin, end),
                  tenth_of_millisecond_)
             ? std::optional{How::by_length}
             : std::nullopt;
}

// Whether the last request in the wait before the turn explains it in this way.
bool FileWaits::explain_last(Thread& thread, const Turn& turn, How how) {
  for (auto one = thread.ended.rbegin(); one != thread.ended.rend(); ++one) {
    if (explains(one->operation, turn) != how) continue;
    count(one->operation, thread.waits.back(), how);
    thread.waits.pop_back();
    return true;
  }
  return false;
}

// Whether the thread itself ended it in its turn.
bool FileWaits::ended_in(const Ended& one, const Turn& turn) const {
  const auto& end = one.operation.end;
  return !one.in_interrupt && end.cpu == turn.cpu && turn.begin <= end.time &&
         (turn.end ? end.time <= *turn.end : at_end_);
}

// Requests in requests end first, and have their waits by then.
void FileWaits::take_inside(Thread& thread, const FileOperation& operation) {
  if (thread.waits_before && operation.begin <= *thread.waits_before) ++left_out_;
  const auto first = std::ranges::partition_point(
      thread.waits, [&](const Wait& wait) { return wait.since.time < operation.begin; });
  for (auto wait = first; wait != thread.waits.end(); ++wait)
    count(operation, *wait, How::by_itself);
  thread.waits.erase(first, thread.waits.end());
}

void FileWaits::end_turn(const Turn& turn) {
  if (turn.thread >= threads_.size()) return;
  auto& thread = threads_[turn.thread];
  const auto waiting = absence_before(turn).waiting;
  bool explained = true;
  if (waiting && (thread.under_way > 0 || !thread.ended.empty())) {
    if (thread.waits.size() == most_kept) {
      thread.waits_before = thread.waits.front().since.time;
      thread.waits.erase(thread.waits.begin());
    }
    thread.waits.push_back({departures_.before(turn), *waiting});
    explained = explain_last(thread, turn, How::by_completion);
  }
  for (const auto& one : thread.ended) {
    if (!ended_in(one, turn)) continue;
    const auto kept = thread.waits.size();
    take_inside(thread, one.operation);
    explained = explained || thread.waits.size() < kept;
  }
  if (!explained) explain_last(thread, turn, How::by_length);
  thread.ended.clear();
  if (thread.under_way == 0) {
    thread.waits.clear();
    thread.waits_before.reset();
  }
}

void FileWaits::finish(const Observed& observed) {
  at_end_ = true;
  turns_.finish(observed);
  for (const auto& request : files_.under_way()) {
    if (request.thread == nobody) continue;
    const auto standing = turns_.standing(request.thread);
    const auto left = departures_.of(request.thread);
    if (standing.where != Standing::Where::waiting || !left || left->time != standing.since ||
        request.begin > left->time || observed.losses.anywhere(request.begin, *observed.last))
      continue;
    if (auto* const known = edge(request.thread, request.file, request.action))
      known->open_since = left;
  }
}

}  // namespace coldtrace::trace_analysis
