#include "tracefile/analysis/records/grown.hpp"
#include "tracefile/analysis/records/record_reader.hpp"

namespace coldtrace::trace_analysis {

using tracefile::Event;

void RecordReader::set_process(Index thread, std::optional<u32> pid) {
  if (thread == nobody || !pid || *pid == unknown_id) return;
  auto& process = population_.at_thread(thread).process;
  if (process == nobody) process = population_.process(*pid);
}

// Who logs the beginning of a process or thread: the fields say it, or the header.
Index RecordReader::creator_of(const Event& event) {
  const auto creator = values_.has(Field::creator_thread)
                           ? thread_of(values_.get<u32>(Field::creator_thread), event.cpu)
                           : header_thread(event);
  set_process(creator, values_.has(Field::creator_process)
                           ? values_.get<u32>(Field::creator_process)
                           : event.pid);
  return creator;
}

bool RecordReader::process(const Event& event, Life life) {
  const auto pid = values_.get<u32>(Field::process);
  if (!pid || *pid == unknown_id) return false;
  const auto moment = moment_of(event);
  const auto parent = values_.get<u32>(Field::parent);
  Index index = nobody;
  if (life == Life::begins) {
    index = population_.start_process(*pid, moment.time, moment.place);
    const auto creator = creator_of(event);
    const auto parent_index = parent ? population_.process(*parent) : nobody;
    auto& process = population_.at_process(index);
    process.creator = creator;
    process.parent = parent_index;
  } else {
    index = life == Life::is_left ? population_.listed_process(*pid) : population_.process(*pid);
  }
  note_listed(index, life);
  auto& process = population_.at_process(index);
  if (life == Life::ends) {
    process.life.end = moment.time;
    process.life.ended_at = moment.place;
    process.exit_status = values_.get<u32>(Field::exit_status);
  }
  if (!process.stated_parent) process.stated_parent = parent;
  if (process.image_name.empty()) process.image_name = values_.text(Field::image_name);
  if (process.command_line.empty()) process.command_line = values_.text(Field::command_line);
  for (auto* const analysis : analyses_) analysis->on_process({moment, life, index});
  return true;
}

void RecordReader::note_listed(Index process, Life life) {
  auto& listed = grown(listed_, process);
  if (life == Life::was_there && listed.at_start == 0) listed.at_start = ++last_listed_.at_start;
  if (life == Life::is_left && listed.at_end == 0) listed.at_end = ++last_listed_.at_end;
}

// A rundown lists processes in the order in which they began (dp_vsgc, 396 and 402 processes: all
// but two, whose parent smss.exe is known to end at once). One that comes after its child has taken
// the id of a parent that is gone.
void RecordReader::finish() {
  population_.finish();
  for (Index i = 0; i < listed_.size(); ++i) {
    auto& process = population_.at_process(i);
    if (process.life.start || process.parent >= listed_.size()) continue;
    const auto& child = listed_[i];
    const auto& parent = listed_[process.parent];
    if ((child.at_start > 0 && parent.at_start > child.at_start) ||
        (child.at_end > 0 && parent.at_end > child.at_end))
      process.parent = nobody;
  }
}

bool RecordReader::thread(const Event& event, Life life) {
  const auto tid = values_.get<u32>(Field::thread);
  if (!tid || *tid == unknown_id) return false;
  if (*tid == 0) return true;  // the rundown lists the idle threads as one
  const auto moment = moment_of(event);
  Index index = nobody;
  if (life == Life::begins) {
    index = population_.start_thread(*tid, moment.time, moment.place);
    const auto creator = creator_of(event);
    population_.at_thread(index).creator = creator;
  } else {
    index =
        life == Life::is_left ? population_.listed_thread(*tid) : population_.living_thread(*tid);
  }
  set_process(index, values_.get<u32>(Field::process));
  auto& thread = population_.at_thread(index);
  if (life == Life::ends) {
    thread.life.end = moment.time;
    thread.life.ended_at = moment.place;
    thread.exit_status = values_.get<u32>(Field::exit_status);
  }
  if (thread.start_address == 0)
    thread.start_address = values_.get<u64>(Field::start_address).value_or(0);
  if (thread.object == 0) thread.object = values_.get<u64>(Field::thread_object).value_or(0);
  if (const auto& name = values_.text(Field::thread_name); !name.empty()) thread.name = name;
  const ThreadRecord record{moment, life, index, values_.get<i8>(Field::base_priority),
                            values_.get<u64>(Field::affinity)};
  for (auto* const analysis : analyses_) analysis->on_thread(record);
  return true;
}

bool RecordReader::thread_named(const Event& event) {
  const auto tid = values_.get<u32>(Field::thread);
  if (!tid || *tid == 0 || *tid == unknown_id) return false;
  const auto thread = population_.thread(*tid);
  set_process(thread, values_.get<u32>(Field::process).value_or(event.pid.value_or(unknown_id)));
  population_.at_thread(thread).name = values_.text(Field::thread_name);
  return true;
}

}  // namespace coldtrace::trace_analysis
