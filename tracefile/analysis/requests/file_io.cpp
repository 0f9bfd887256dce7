#include "coldtrace/trace_analysis/requests/file_io.hpp"

#include <algorithm>

#include "coldtrace/trace_analysis/records/ticks.hpp"
#include "tracefile/analysis/records/byte_sums.hpp"
#include "tracefile/analysis/records/grown.hpp"

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

void FileIo::open(u64 object, u32 number) {
  const auto known = opened_.find(object);
  if (known != opened_.end())
    known->second = number;
  else if (opened_.size() < most_open)
    opened_.emplace(object, number);
  else
    ++unnamed_;
}

// What was open before the first event has the name that the trace had for it then.
std::string_view FileIo::name_before(u64 object) const {
  return names_.find_file(object, *observed_->first).value_or("");
}

void FileIo::forget(u64 object) {
  if (name_before(object).empty())
    opened_.erase(object);
  else
    open(object, 0);
}

u32 FileIo::number_of_object(u64 object) {
  const auto opened = opened_.find(object);
  return opened != opened_.end() ? opened->second : files_.number_of(name_before(object));
}

u32 FileIo::number_of(const FileStart& record) {
  if (record.action == FileAction::create || !record.path.empty())
    return files_.number_of(record.path);
  if (record.file_key)
    if (const auto name = names_.find_file(*record.file_key, record.moment.time))
      return files_.number_of(*name);
  return record.file ? number_of_object(*record.file) : 0;
}

void FileIo::on_file_start(const FileStart& record) {
  Open one{{record.moment.time, record.action, number_of(record), record.thread}};
  if (record.action == FileAction::create) one.opens = record.file;
  if (one.opens) open(*one.opens, one.file);
  if (record.action == FileAction::close && record.file) forget(*record.file);
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
  const bool failed = is_error(record.status);
  if (failed && one.opens) forget(*one.opens);
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
  if (!timed) return;
  times_[static_cast<std::size_t>(one.action)].add(static_cast<u64>(time));
  if (each_)
    each_(
        {one.action, one.file, one.thread, one.begin, record.moment, record.status, record.bytes});
}

std::vector<FileIo::UnderWay> FileIo::under_way() const {
  std::vector<std::pair<u64, UnderWay>> all(open_.begin(), open_.end());
  std::ranges::sort(all, {}, [](const auto& one) {
    return std::pair{one.second.begin, one.first};
  });
  std::vector<UnderWay> sorted;
  for (const auto& [irp, one] : all) sorted.push_back(one);
  return sorted;
}

void FileIo::finish(const Observed& observed) {
  for (const auto& [thread, sums] : of_threads_)
    of_processes_[thread == nobody ? nobody : observed.population.threads()[thread].process].add(
        sums);
}

}  // namespace coldtrace::trace_analysis
