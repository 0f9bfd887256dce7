#include "tracefile/analysis/records/known_events.hpp"

namespace coldtrace::trace_analysis {
namespace {

namespace table {

using enum Field;

// Fields that several events have.
#define KERNEL_PROCESS                                                       \
  {process, "ProcessId"}, {parent, "ParentId"}, {exit_status, "ExitStatus"}, \
      {image_name, "ImageFileName"}, {                                       \
    command_line, "CommandLine"                                              \
  }
#define KERNEL_THREAD                                                               \
  {process, "ProcessId"}, {thread, "TThreadId"}, {start_address, "Win32StartAddr"}, \
      {base_priority, "BasePriority"}, {affinity, "Affinity"}, {                    \
    thread_name, "ThreadName"                                                       \
  }
#define INTERRUPTION             \
  {begin_time, "InitialTime"}, { \
    routine, "Routine"           \
  }
#define STACK                                                  \
  {event_time, "EventTimeStamp"}, {process, "StackProcess"}, { \
    thread, "StackThread"                                      \
  }
#define SWITCH                                                                              \
  {old_process, "old_process"}, {old_thread, "old_thread"}, {new_process, "new_process"}, { \
    new_thread, "new_thread"                                                                \
  }
#define CALLER            \
  {process, "process"}, { \
    thread, "thread"      \
  }
#define CREATOR                   \
  {creator_process, "process"}, { \
    creator_thread, "thread"      \
  }
#define VXD_SERVICE    \
  {vxd, "vxd"}, {      \
    service, "service" \
  }
#define DISK_TRANSFER                                                                             \
  {disk, "DiskNumber"}, {irp_flags, "IrpFlags"}, {bytes, "TransferSize"}, {offset, "ByteOffset"}, \
      {file_object, "FileObject"}, {irp, "Irp"}, {response, "HighResResponseTime"}, {             \
    thread, "IssuingThreadId"                                                                     \
  }
#define DISK_INIT             \
  {irp, "Irp"}, {             \
    thread, "IssuingThreadId" \
  }
#define FILE_FIELDS                                                 \
  {irp, "IrpPtr"}, {thread, "TTID"}, {file_object, "FileObject"}, { \
    file_key, "FileKey"                                             \
  }
#define TRANSFER                                                                                  \
  {process, "PID"}, {bytes, "size"}, {remote, "daddr"}, {remote_port, "dport"}, {local, "saddr"}, \
  {                                                                                               \
    local_port, "sport"                                                                           \
  }

constexpr KnownEvent all[] = {
#define EVENT(provider, name, record, ...) \
  {provider, name, RecordKind::record, {}, {}, {{__VA_ARGS__}}},
#define LIFE(provider, name, record, life, ...) \
  {provider, name, RecordKind::record, Life::life, {}, {{__VA_ARGS__}}},
#define SERVICE(provider, name, record, kind, ...) \
  {provider, name, RecordKind::record, {}, Service::Kind::kind, {{__VA_ARGS__}}},
#define DISK(provider, name, record, action, ...) \
  {provider, name, RecordKind::record, {}, {}, {{__VA_ARGS__}}, DiskAction::action},
#define FILE_REQUEST(provider, name, action, ...) \
  {provider,                                      \
   name,                                          \
   RecordKind::file_start,                        \
   {},                                            \
   {},                                            \
   {{FILE_FIELDS __VA_OPT__(, ) __VA_ARGS__}},    \
   std::nullopt,                                  \
   FileAction::action},
#include "tracefile/analysis/records/known_events.inc"
#undef EVENT
#undef LIFE
#undef DISK
#undef FILE_REQUEST
#undef SERVICE
};

}  // namespace table
}  // namespace

const KnownEvent* find_known_event(std::string_view provider, std::string_view name) {
  for (const auto& known : table::all)
    if (known.name == name && known.provider == provider) return &known;
  return nullptr;
}

}  // namespace coldtrace::trace_analysis
