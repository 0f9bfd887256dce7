#include "tracefile/analysis/records/record_reader.hpp"

namespace coldtrace::trace_analysis {
namespace {

using tracefile::Event;

// Source: wdm.h, IRP_MJ_...
DiskAction action_of(std::optional<u8> major) {
  switch (major.value_or(0)) {
    case 3:
      return DiskAction::read;
    case 4:
      return DiskAction::write;
    case 9:
      return DiskAction::flush;
    default:
      return DiskAction::other;
  }
}

// Three bits of the IRP's flags are an IO_PRIORITY_HINT and one, 0 where none was set.
std::optional<u8> priority_of(std::optional<u32> irp_flags) {
  const u32 bits = irp_flags.value_or(0) >> 17U & 7U;
  if (bits == 0) return std::nullopt;
  return static_cast<u8>(bits - 1);
}

}  // namespace

// As the event names it; nobody where it does not.
Index RecordReader::issuing_thread() {
  const auto tid = values_.get<u32>(Field::thread);
  return !tid || *tid == 0 || *tid == unknown_id ? nobody : population_.thread(*tid);
}

// Of the beginning of a request that names nobody, the one that logged it.
Index RecordReader::issuer_of(const Event& event) {
  if (values_.has(Field::thread)) return issuing_thread();
  return event.tid ? header_thread(event) : running(event);
}

bool RecordReader::disk_start(const Event& event, std::optional<DiskAction> action) {
  const auto irp = values_.get<u64>(Field::irp);
  if (!irp) return false;
  DiskStart record{};
  record.moment = moment_of(event);
  record.irp = *irp;
  record.thread = issuer_of(event);
  record.action = action ? *action : action_of(values_.get<u8>(Field::major_function));
  record.disk = values_.get<u32>(Field::disk);
  record.offset = values_.get<u64>(Field::offset);
  record.bytes = values_.get<u64>(Field::bytes);
  for (auto* const analysis : analyses_) analysis->on_disk_start(record);
  return true;
}

// The thread that was interrupted by the end of a request did not issue it.
bool RecordReader::disk_end(const Event& event, std::optional<DiskAction> action) {
  const auto irp = values_.get<u64>(Field::irp);
  const auto disk = values_.get<u32>(Field::disk);
  if (!irp && !disk) return false;
  DiskEnd record{};
  record.moment = moment_of(event);
  record.irp = irp;
  record.thread = issuing_thread();
  record.action = action;
  record.disk = disk;
  record.offset = values_.get<u64>(Field::offset);
  record.bytes = values_.get<u64>(Field::bytes);
  record.response = values_.get<u64>(Field::response);
  record.file = values_.get<u64>(Field::file_object);
  record.priority = priority_of(values_.get<u32>(Field::irp_flags));
  record.status = values_.get<u32>(Field::exit_status);
  for (auto* const analysis : analyses_) analysis->on_disk_end(record);
  return true;
}

}  // namespace coldtrace::trace_analysis
