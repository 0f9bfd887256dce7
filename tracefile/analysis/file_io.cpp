#include "coldtrace/trace_analysis/file_io.hpp"

#include <algorithm>

#include "coldtrace/trace_analysis/ticks.hpp"
#include "tracefile/analysis/byte_sums.hpp"
#include "tracefile/analysis/grown.hpp"

namespace coldtrace::trace_analysis {

void FileSums::add(const FileSums& other) {
  operations += other.operations;
  ended += other.ended;
  failed += other.failed;
  timed += other.timed;
  add_ticks(time, other.time);
  longest = std::max(longest, other.longest);
  add_bytes(bytes_read, other.bytes_read);
  add_bytes(bytes_written, other.bytes_written);
}

template <class Change>
void FileIo::change(const Open& one, Change change) {
  change(of_actions_[static_cast<std::size_t>(one.action)]);
  change(grown(of_files_, one.file));
  change(of_threads_[one.thread]);
}

// A file object has the name that it was opened by, until it is closed.
u32 FileIo::name(const FileStart& record) {
  const auto time = record.moment.time;
  const auto find = [&](std::optional<u64> key) -> std::string_view {
    return key ? names_.find_file(*key, time).value_or("") : "";
  };
  auto name = find(record.file_key);
  if (name.empty()) name = find(record.file);
  if (name.empty()) name = record.path;
  auto number = files_.number_of(name);
  if (!record.file) return number;
  const auto opened = opened_.find(*record.file);
  if (number == 0 && opened != opened_.end()) number = opened->second;
  if (record.action == FileAction::create && number != 0 && opened_.size() < most_open)
    opened_[*record.file] = number;
  if (record.action == FileAction::close && opened != opened_.end()) opened_.erase(opened);
  return number;
}

void FileIo::on_file_start(const FileStart& record) {
  const Open one{record.moment.time, record.action, name(record), record.thread};
  change(one, [](FileSums& sums) { ++sums.operations; });
  const auto place = open_.find(record.irp);
  if (place != open_.end()) {
    ++lost_ends_;
    place->second = one;
  } else if (open_.size() < most_open) {
    open_.emplace(record.irp, one);
  } else {
    ++left_out_;
  }
}

void FileIo::on_file_end(const FileEnd& record) {
  const auto place = open_.find(record.irp);
  if (place == open_.end()) {
    ++lone_ends_;
    return;
  }
  const auto one = place->second;
  open_.erase(place);
  constexpr u32 severity_error = 3U << 30U;
  const bool failed = (record.status & severity_error) == severity_error;
  const auto end = record.moment.time;
  const bool timed = one.begin <= end && !observed_->losses.anywhere(one.begin, end);
  const auto time = ticks_between(one.begin, end);
  change(one, [&](FileSums& sums) {
    ++sums.ended;
    if (failed) ++sums.failed;
    if (!failed && one.action == FileAction::read) add_bytes(sums.bytes_read, record.bytes);
    if (!failed && one.action == FileAction::write) add_bytes(sums.bytes_written, record.bytes);
    if (!timed) return;
    ++sums.timed;
    add_ticks(sums.time, time);
    sums.longest = std::max(sums.longest, time);
  });
  if (timed) times_[static_cast<std::size_t>(one.action)].add(static_cast<u64>(time));
}

void FileIo::finish(const Observed& observed) {
  for (const auto& [thread, sums] : of_threads_)
    of_processes_[thread == nobody ? nobody : observed.population.threads()[thread].process].add(
        sums);
}

}  // namespace coldtrace::trace_analysis
