#include "tracefile/analysis/record_reader.hpp"

namespace coldtrace::trace_analysis {
namespace {

using tracefile::Event;
using tracefile::EventKind;

constexpr u32 unknown_id = 0xffff'ffff;
constexpr u8 in_dpc = 1;  // of ReadyThread's Flag

constexpr std::size_t most_fields = 8;

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

// One event of one provider, and what its fields mean.
struct RecordReader::KnownEvent {
  std::string_view provider;
  std::string_view name;
  Handler handler;
  std::array<NamedField, most_fields> fields;
};

// Source of the meanings: Microsoft Learn "CSwitch", "ReadyThread", "Thread_TypeGroup1",
// "Process_TypeGroup1"; of the driver's schemas docs/formats/seed-events.md.
std::span<const RecordReader::KnownEvent> RecordReader::known_events() {
  using F = Field;
  constexpr std::array<NamedField, most_fields> kernel_process = {
      {{F::process, "ProcessId"},
       {F::parent, "ParentId"},
       {F::exit_status, "ExitStatus"},
       {F::image_name, "ImageFileName"},
       {F::command_line, "CommandLine"}}};
  constexpr std::array<NamedField, most_fields> kernel_thread = {
      {{F::process, "ProcessId"},
       {F::thread, "TThreadId"},
       {F::start_address, "Win32StartAddr"},
       {F::thread_name, "ThreadName"}}};
  constexpr std::array<NamedField, most_fields> interruption = {
      {{F::begin_time, "InitialTime"}, {F::routine, "Routine"}}};
  constexpr std::array<NamedField, most_fields> call_by_number = {
      {{F::process, "process"}, {F::thread, "thread"}, {F::service, "number"}}};
  constexpr std::array<NamedField, most_fields> call_by_hash = {
      {{F::process, "process"}, {F::thread, "thread"}, {F::service, "name_hash"}}};
  using R = RecordReader;
  using K = Service::Kind;
  static constexpr KnownEvent all[] = {
      {"Windows Kernel",
       "Thread/CSwitch",
       &R::context_switch,
       {{{F::old_thread, "OldThreadId"},
         {F::new_thread, "NewThreadId"},
         {F::old_state, "OldThreadState"},
         {F::wait_reason, "OldThreadWaitReason"},
         {F::old_priority, "OldThreadPriority"},
         {F::new_priority, "NewThreadPriority"}}}},
      {"Windows Kernel",
       "Thread/ReadyThread",
       &R::readied,
       {{{F::thread, "TThreadId"}, {F::ready_flags, "Flag"}}}},
      {"Windows Kernel",
       "PerfInfo/SysClEnter",
       &R::call<K::system_call_address, true>,
       {{{F::service, "SysCallAddress"}}}},
      {"Windows Kernel", "PerfInfo/SysClExit", &R::call<K::system_call_address, false>, {}},
      {"Windows Kernel", "PerfInfo/ISR", &R::interruption<K::isr>, interruption},
      {"Windows Kernel", "PerfInfo/ISR-MSI", &R::interruption<K::isr>, interruption},
      {"Windows Kernel", "PerfInfo/DPC", &R::interruption<K::dpc>, interruption},
      {"Windows Kernel", "PerfInfo/TimerDPC", &R::interruption<K::timer_dpc>, interruption},
      {"Windows Kernel", "PerfInfo/IOTimer", &R::interruption<K::io_timer>, interruption},
      {"Windows Kernel", "Process/Start", &R::process<Life::begins>, kernel_process},
      {"Windows Kernel", "Process/End", &R::process<Life::ends>, kernel_process},
      {"Windows Kernel", "Process/DCStart", &R::process<Life::was_there>, kernel_process},
      {"Windows Kernel", "Process/DCEnd", &R::process<Life::is_left>, kernel_process},
      {"Windows Kernel", "Thread/Start", &R::thread<Life::begins>, kernel_thread},
      {"Windows Kernel", "Thread/End", &R::thread<Life::ends>, kernel_thread},
      {"Windows Kernel", "Thread/DCStart", &R::thread<Life::was_there>, kernel_thread},
      {"Windows Kernel", "Thread/DCEnd", &R::thread<Life::is_left>, kernel_thread},
      {"Windows Kernel",
       "Thread/SetName",
       &R::thread_named,
       {{{F::process, "ProcessId"}, {F::thread, "ThreadId"}, {F::thread_name, "ThreadName"}}}},

      {"wmk",
       "ContextSwitch",
       &R::context_switch,
       {{{F::old_process, "old_process"},
         {F::old_thread, "old_thread"},
         {F::new_process, "new_process"},
         {F::new_thread, "new_thread"},
         {F::old_state, "old_state"},
         {F::wait_reason, "old_wait_reason"},
         {F::old_priority, "old_priority"},
         {F::new_priority, "new_priority"}}}},
      {"wmk",
       "WaitSatisfied",
       &R::wait_satisfied,
       {{{F::process, "process"},
         {F::thread, "thread"},
         {F::thread_object, "thread_object"},
         {F::object, "object"},
         {F::object_kind, "object_type"},
         {F::exit_status, "status"}}}},
      {"wmk",
       "WaitBegin",
       &R::wait_begin,
       {{{F::process, "process"},
         {F::thread, "thread"},
         {F::thread_object, "thread_object"},
         {F::object, "object"},
         {F::object_kind, "object_type"},
         {F::wait_reason, "reason"}}}},
      {"wmk",
       "ProcessCreate",
       &R::process<Life::begins>,
       {{{F::creator_process, "process"},
         {F::creator_thread, "thread"},
         {F::process, "new_process"},
         {F::image_name, "image_file_name"}}}},
      {"wmk",
       "ProcessEnd",
       &R::process<Life::ends>,
       {{{F::process, "process"}, {F::exit_status, "exit_status"}}}},
      {"wmk",
       "ThreadCreate",
       &R::thread<Life::begins>,
       {{{F::creator_process, "process"},
         {F::creator_thread, "thread"},
         {F::process, "new_process"},
         {F::thread, "new_thread"},
         {F::thread_object, "thread_object"},
         {F::start_address, "start_address"}}}},
      {"wmk",
       "ThreadEnd",
       &R::thread<Life::ends>,
       {{{F::process, "process"}, {F::thread, "thread"}, {F::exit_status, "exit_status"}}}},

      {"wmk", "SystemCall", &R::call<K::system_call, true>, call_by_number},
      {"wmk", "SystemCallReturn", &R::call<K::system_call, false>, call_by_number},
      {"vtrace", "SystemCallEnter", &R::call<K::system_call, true>, call_by_number},
      {"vtrace", "SystemCallExit", &R::call<K::system_call, false>, call_by_number},
      {"dynamic_tracing", "SystemServiceEnter", &R::call<K::hashed_system_call, true>,
       call_by_hash},
      {"dynamic_tracing", "SystemServiceExit", &R::call<K::hashed_system_call, false>,
       call_by_hash},
      {"vxdmon", "ServiceCall", &R::vxd_call<true>, {{{F::vxd, "vxd"}, {F::service, "service"}}}},
      {"vxdmon",
       "ServiceReturn",
       &R::vxd_call<false>,
       {{{F::vxd, "vxd"}, {F::service, "service"}, {F::cycles, "cycles"}}}},
      {"vxdmon",
       "ServiceName",
       &R::vxd_service_named,
       {{{F::vxd, "vxd"},
         {F::service, "service"},
         {F::vxd_name, "vxd_name"},
         {F::service_name, "service_name"}}}},

      {"vtrace",
       "ContextSwitch",
       &R::context_switch,
       {{{F::old_process, "old_process"},
         {F::old_thread, "old_thread"},
         {F::new_process, "new_process"},
         {F::new_thread, "new_thread"}}}},
      {"vtrace",
       "WaitBegin",
       &R::wait_begin_of_several,
       {{{F::process, "process"},
         {F::thread, "thread"},
         {F::wait_reason, "reason"},
         {F::wait_type, "wait_type"},
         {F::object_kinds, "objects.kind"},
         {F::objects, "objects.object"},
         {F::timeout, "timeout"}}}},
      {"vtrace",
       "WaitEnd",
       &R::wait_end,
       {{{F::process, "process"}, {F::thread, "thread"}, {F::exit_status, "status"}}}},
      {"vtrace",
       "ProcessStart",
       &R::process<Life::begins>,
       {{{F::process, "process"}, {F::parent, "parent"}, {F::image_name, "image_name"}}}},
      {"vtrace", "ProcessStop", &R::process<Life::ends>, {{{F::process, "process"}}}},
      {"vtrace",
       "ProcessListed",
       &R::process<Life::was_there>,
       {{{F::process, "process"}, {F::image_name, "image_name"}}}},
      {"vtrace",
       "ThreadStart",
       &R::thread<Life::begins>,
       {{{F::process, "process"}, {F::thread, "thread"}}}},
      {"vtrace",
       "ThreadStop",
       &R::thread<Life::ends>,
       {{{F::process, "process"}, {F::thread, "thread"}}}},
  };
  return all;
}

const RecordReader::KnownEvent* RecordReader::find_known(const EventKind& kind) {
  if (!kind.schema) return nullptr;
  for (const auto& known : known_events())
    if (known.name == kind.name && known.provider == kind.provider_name) return &known;
  return nullptr;
}

const RecordReader::Plan& RecordReader::plan_of(const Event& event, const EventKind& kind) {
  const std::size_t at = std::size_t{kind.number} * 2 + (event.pointer_size == 8 ? 1 : 0);
  if (at >= plans_.size()) plans_.resize(at + 1);
  auto& plan = plans_[at];
  if (plan.looked_up && kind.kept) return plan;
  plan = {true, event.pointer_size, find_known(kind), {}};
  if (plan.known != nullptr)
    plan.fields = FieldPlan{*kind.schema, plan.known->fields, event.pointer_size};
  return plan;
}

bool RecordReader::read(const Event& event) {
  const auto& plan = plan_of(event, decoder_.kind_of(event));
  if (plan.known == nullptr) return false;
  plan.fields.take(event, values_);
  if ((this->*plan.known->handler)(event)) return true;
  ++unreadable_;
  return false;
}

Moment RecordReader::moment_of(const Event& event) const {
  return {event.name_time(), event.cpu, {event.buffer_offset, event.offset}};
}

// The idle threads all have the id 0.
Index RecordReader::thread_of(std::optional<u32> tid, std::optional<u16> cpu) {
  if (!tid || *tid == unknown_id) return nobody;
  if (*tid != 0) return population_.thread(*tid);
  return cpu ? population_.idle_thread(*cpu) : nobody;
}

Index RecordReader::header_thread(const Event& event) {
  if (event.thread_source != tracefile::ThreadSource::header) return running(event.cpu);
  return thread_of(event.tid, event.cpu);
}

Index RecordReader::running(std::optional<u16> cpu) const {
  return cpu && *cpu < running_.size() ? running_[*cpu] : nobody;
}

void RecordReader::set_process(Index thread, std::optional<u32> pid) {
  if (thread == nobody || !pid || *pid == unknown_id) return;
  auto& process = population_.at_thread(thread).process;
  if (process == nobody) process = population_.process(*pid);
}

bool RecordReader::context_switch(const Event& event) {
  const auto old_tid = values_.get<u32>(Field::old_thread);
  const auto new_tid = values_.get<u32>(Field::new_thread);
  if (!event.cpu || !old_tid || !new_tid) return false;
  ContextSwitch record{};
  record.moment = moment_of(event);
  record.old_thread = thread_of(old_tid, event.cpu);
  record.new_thread = thread_of(new_tid, event.cpu);
  if (record.old_thread == nobody || record.new_thread == nobody) return false;
  set_process(record.old_thread, values_.get<u32>(Field::old_process));
  set_process(record.new_thread, values_.get<u32>(Field::new_process));
  record.continues = running(event.cpu) == record.old_thread;
  if (const auto state = values_.get<u8>(Field::old_state))
    record.old_state = static_cast<ThreadState>(*state);
  record.wait_reason = values_.get<u8>(Field::wait_reason);
  record.old_priority = values_.get<i8>(Field::old_priority);
  record.new_priority = values_.get<i8>(Field::new_priority);
  if (*event.cpu >= running_.size()) running_.resize(std::size_t{*event.cpu} + 1, nobody);
  running_[*event.cpu] = record.new_thread;
  for (auto* const analysis : analyses_) analysis->on_switch(record);
  return true;
}

bool RecordReader::readied(const Event& event) {
  const auto tid = values_.get<u32>(Field::thread);
  if (!tid || *tid == 0 || *tid == unknown_id) return false;
  Readied record{moment_of(event), population_.thread(*tid), nobody, false};
  record.in_dpc = (values_.get<u8>(Field::ready_flags).value_or(0) & in_dpc) != 0;
  if (!record.in_dpc) record.waker = header_thread(event);
  // The idle thread makes nobody ready: an interrupt does.
  if (record.waker != nobody && population_.threads()[record.waker].idle_of) {
    record.waker = nobody;
    record.in_dpc = true;
  }
  for (auto* const analysis : analyses_) analysis->on_ready(record);
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
  const auto waker = running(event.cpu);
  const auto object = values_.get<u64>(Field::object);
  const auto kind = values_.get<u8>(Field::object_kind);
  const auto status = values_.get<u32>(Field::exit_status);
  if (object && kind && status) {
    const WaitEnd record{moment_of(event), thread,
                         WaitedObject{*object, object_kind(wmk_kinds, *kind)}, *status, waker};
    for (auto* const analysis : analyses_) analysis->on_wait_end(record);
  }
  if (waker == thread) return true;
  const bool idle = waker != nobody && population_.threads()[waker].idle_of;
  const Readied record{moment_of(event), thread, idle ? nobody : waker, idle};
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

// Events of the kernel have no thread: it is the one that runs there.
template <Service::Kind kind, bool enters>
bool RecordReader::call(const Event& event) {
  CallRecord record{moment_of(event), nobody, enters, false, std::nullopt, std::nullopt};
  if (const auto number = values_.get<u64>(Field::service)) record.service = {kind, *number};
  if (enters && !record.service) return false;
  if (kind == Service::Kind::system_call_address) {
    record.thread = header_thread(event);
  } else {
    record.thread = thread_of(values_.get<u32>(Field::thread), event.cpu);
    if (record.thread == nobody || !record.service) return false;
    set_process(record.thread, values_.get<u32>(Field::process));
  }
  for (auto* const analysis : analyses_) analysis->on_call(record);
  return true;
}

template <bool enters>
bool RecordReader::vxd_call(const Event& event) {
  const auto vxd = values_.get<u64>(Field::vxd);
  const auto service = values_.get<u64>(Field::service);
  if (!vxd || !service) return false;
  const CallRecord record{moment_of(event),
                          nobody,
                          enters,
                          true,
                          Service{Service::Kind::vxd_service, *vxd << 16 | *service},
                          values_.get<u64>(Field::cycles)};
  for (auto* const analysis : analyses_) analysis->on_call(record);
  return true;
}

bool RecordReader::vxd_service_named(const Event&) {
  const auto vxd = values_.get<u64>(Field::vxd);
  const auto service = values_.get<u64>(Field::service);
  if (!vxd || !service) return false;
  const auto name = values_.text(Field::vxd_name) + ":" + values_.text(Field::service_name);
  for (auto* const analysis : analyses_)
    analysis->on_service_name({{Service::Kind::vxd_service, *vxd << 16 | *service}, name});
  return true;
}

template <Service::Kind kind>
bool RecordReader::interruption(const Event& event) {
  const auto begin = values_.get<i64>(Field::begin_time);
  const auto routine = values_.get<u64>(Field::routine);
  if (!event.cpu || !begin || !routine) return false;
  const Interruption record{moment_of(event), *begin, {kind, *routine}};
  for (auto* const analysis : analyses_) analysis->on_interruption(record);
  return true;
}

template <Life life>
bool RecordReader::process(const Event& event) {
  const auto pid = values_.get<u32>(Field::process);
  if (!pid || *pid == unknown_id) return false;
  const ProcessRecord record{
      moment_of(event), life,
      life == Life::begins
          ? population_.start_process(*pid, event.name_time(), moment_of(event).place)
          : population_.process(*pid)};
  const auto parent = values_.get<u32>(Field::parent);
  Index creator = nobody;
  if constexpr (life == Life::begins) {
    creator = values_.has(Field::creator_thread)
                  ? thread_of(values_.get<u32>(Field::creator_thread), event.cpu)
                  : header_thread(event);
    set_process(creator, values_.has(Field::creator_process)
                             ? values_.get<u32>(Field::creator_process)
                             : event.pid);
  }
  const Index parent_index = life == Life::begins && parent ? population_.process(*parent) : nobody;
  auto& process = population_.at_process(record.process);
  if constexpr (life == Life::begins) {
    process.creator = creator;
    process.parent = parent_index;
  }
  if constexpr (life == Life::ends) {
    process.life.end = record.moment.time;
    process.life.ended_at = record.moment.place;
    process.exit_status = values_.get<u32>(Field::exit_status);
  }
  if (!process.stated_parent) process.stated_parent = parent;
  if (process.image_name.empty()) process.image_name = values_.text(Field::image_name);
  if (process.command_line.empty()) process.command_line = values_.text(Field::command_line);
  for (auto* const analysis : analyses_) analysis->on_process(record);
  return true;
}

template <Life life>
bool RecordReader::thread(const Event& event) {
  const auto tid = values_.get<u32>(Field::thread);
  if (!tid || *tid == unknown_id) return false;
  if (*tid == 0) return true;  // the rundown lists the idle threads as one
  const ThreadRecord record{moment_of(event), life,
                            life == Life::begins ? population_.start_thread(*tid, event.name_time(),
                                                                            moment_of(event).place)
                                                 : population_.thread(*tid)};
  Index creator = nobody;
  if constexpr (life == Life::begins) {
    creator = values_.has(Field::creator_thread)
                  ? thread_of(values_.get<u32>(Field::creator_thread), event.cpu)
                  : header_thread(event);
    set_process(creator, values_.has(Field::creator_process)
                             ? values_.get<u32>(Field::creator_process)
                             : event.pid);
  }
  set_process(record.thread, values_.get<u32>(Field::process));
  auto& thread = population_.at_thread(record.thread);
  if constexpr (life == Life::begins) thread.creator = creator;
  if constexpr (life == Life::ends) {
    thread.life.end = record.moment.time;
    thread.life.ended_at = record.moment.place;
    thread.exit_status = values_.get<u32>(Field::exit_status);
  }
  if (thread.start_address == 0)
    thread.start_address = values_.get<u64>(Field::start_address).value_or(0);
  if (thread.object == 0) thread.object = values_.get<u64>(Field::thread_object).value_or(0);
  if (const auto& name = values_.text(Field::thread_name); !name.empty()) thread.name = name;
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
