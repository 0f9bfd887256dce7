#include "tracefile/analysis/records/record_reader.hpp"

namespace coldtrace::trace_analysis {
namespace {

// By the values of ObjectType in wmk.schema and in vtrace.schema.
constexpr std::array wmk_kinds = {ObjectKind::notification_event,
                                  ObjectKind::synchronization_event,
                                  ObjectKind::mutant,
                                  ObjectKind::process,
                                  ObjectKind::queue,
                                  ObjectKind::semaphore,
                                  ObjectKind::thread,
                                  ObjectKind::gate,
                                  ObjectKind::notification_timer,
                                  ObjectKind::synchronization_timer};
constexpr std::array vtrace_kinds = {ObjectKind::unknown,   ObjectKind::event, ObjectKind::mutant,
                                     ObjectKind::semaphore, ObjectKind::timer, ObjectKind::process,
                                     ObjectKind::thread,    ObjectKind::file,  ObjectKind::port,
                                     ObjectKind::queue};

ObjectKind object_kind(std::span<const ObjectKind> kinds, u64 value) {
  return value < kinds.size() ? kinds[static_cast<std::size_t>(value)] : ObjectKind::unknown;
}

}  // namespace

using tracefile::Event;

bool RecordReader::message(const Event& event, MessageRecord::Kind kind) {
  const auto id = values_.get<u32>(Field::message);
  if (!id && kind != MessageRecord::Kind::wait_ended) return false;
  const auto thread = header_thread(event);
  if (thread == nobody) return true;
  set_process(thread, event.pid);
  const MessageRecord record{moment_of(event), kind, thread, id.value_or(0)};
  for (auto* const analysis : analyses_) analysis->on_message(record);
  return true;
}

bool RecordReader::collision(const Event& event) {
  const auto owner = values_.get<u32>(Field::thread);
  const auto lock = values_.get<u64>(Field::object);
  if (!owner || !lock) return false;
  const auto thread = header_thread(event);
  if (thread == nobody || *owner == 0 || *owner == unknown_id) return true;
  set_process(thread, event.pid);
  const Collision record{moment_of(event), thread, population_.thread(*owner), *lock};
  for (auto* const analysis : analyses_) analysis->on_collision(record);
  return true;
}

// Of an event that tells of the wait of a thread; nobody where it does not.
Index RecordReader::waiting_thread() {
  const auto tid = values_.get<u32>(Field::thread);
  if (!tid || *tid == 0 || *tid == unknown_id) return nobody;
  const auto thread = population_.thread(*tid);
  set_process(thread, values_.get<u32>(Field::process));
  auto& known = population_.at_thread(thread);
  if (known.object == 0) known.object = values_.get<u64>(Field::thread_object).value_or(0);
  return thread;
}

bool RecordReader::wait_begin(const Event& event) {
  const auto object = values_.get<u64>(Field::object);
  const auto kind = values_.get<u8>(Field::object_kind);
  if (!object || !kind) return false;
  const auto thread = waiting_thread();
  if (thread == nobody) return false;
  const WaitedObject waited{*object, object_kind(wmk_kinds, *kind)};
  const WaitBegin record{moment_of(event),
                         thread,
                         {&waited, 1},
                         WaitNeeds::not_known,
                         values_.get<u8>(Field::wait_reason),
                         std::nullopt};
  for (auto* const analysis : analyses_) analysis->on_wait_begin(record);
  return true;
}

bool RecordReader::wait_begin_of_several(const Event& event) {
  const auto& addresses = values_.list(Field::objects);
  const auto& kinds = values_.list(Field::object_kinds);
  const auto type = values_.get<u8>(Field::wait_type);
  if (!type || addresses.size() != kinds.size()) return false;
  const auto thread = waiting_thread();
  if (thread == nobody) return false;
  std::vector<WaitedObject> objects;
  for (std::size_t i = 0; i < kinds.size(); ++i)
    objects.push_back({addresses[i], object_kind(vtrace_kinds, kinds[i])});
  const WaitBegin record{moment_of(event),
                         thread,
                         objects,
                         *type == 0 ? WaitNeeds::all : WaitNeeds::any,
                         values_.get<u8>(Field::wait_reason),
                         values_.get<i64>(Field::timeout)};
  for (auto* const analysis : analyses_) analysis->on_wait_begin(record);
  return true;
}

// Logged when the object satisfies the wait, by whoever runs then. One that finds its object free
// never stopped running.
bool RecordReader::wait_satisfied(const Event& event) {
  const auto thread = waiting_thread();
  if (thread == nobody) return false;
  const auto waker = running(event);
  const auto object = values_.get<u64>(Field::object);
  const auto kind = values_.get<u8>(Field::object_kind);
  const auto status = values_.get<u32>(Field::exit_status);
  if (object && kind && status) {
    const WaitEnd record{moment_of(event), thread,
                         WaitedObject{*object, object_kind(wmk_kinds, *kind)}, *status, waker};
    for (auto* const analysis : analyses_) analysis->on_wait_end(record);
  }
  if (waker == thread) return true;
  // A timer ends a wait by a DPC, whoever runs there.
  const auto ended = kind ? object_kind(wmk_kinds, *kind) : ObjectKind::unknown;
  const bool by_dpc = ended == ObjectKind::notification_timer ||
                      ended == ObjectKind::synchronization_timer ||
                      (waker != nobody && population_.threads()[waker].idle_of);
  const Readied record{moment_of(event), thread, by_dpc ? nobody : waker, by_dpc};
  for (auto* const analysis : analyses_) analysis->on_ready(record);
  return true;
}

// Logged by the thread itself, when it runs again.
bool RecordReader::wait_end(const Event& event) {
  const auto status = values_.get<u32>(Field::exit_status);
  const auto thread = waiting_thread();
  if (!status || thread == nobody) return false;
  const WaitEnd record{moment_of(event), thread, std::nullopt, *status, thread};
  for (auto* const analysis : analyses_) analysis->on_wait_end(record);
  return true;
}

}  // namespace coldtrace::trace_analysis
