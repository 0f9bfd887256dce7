#include <limits>

#include "tracefile/analysis/records/record_reader.hpp"

namespace coldtrace::trace_analysis {
namespace {

using tracefile::Event;

// Source: wdm.h, IRP_MJ_...
FileAction action_of(std::optional<u8> major) {
  switch (major.value_or(0xff)) {
    case 0:
      return FileAction::create;
    case 2:
      return FileAction::close;
    case 3:
      return FileAction::read;
    case 4:
      return FileAction::write;
    case 5:
      return FileAction::query_information;
    case 6:
      return FileAction::set_information;
    case 9:
      return FileAction::flush;
    case 12:
      return FileAction::enumerate;
    case 13:
      return FileAction::control;
    case 18:
      return FileAction::cleanup;
    default:
      return FileAction::other;
  }
}

}  // namespace

// Of what is deleted, renamed or linked Windows logs the path in an event of its own beside the
// one of the request (same IRP in the vectors of both): that is not a request.
bool RecordReader::file_start(const Event& event, std::optional<FileAction> action) {
  const auto irp = values_.get<u64>(Field::irp);
  if (!irp) return false;
  FileStart record{};
  record.moment = moment_of(event);
  record.irp = *irp;
  // Version 2 has ids in the size of pointers.
  const bool is_id = values_.get<u64>(Field::thread).value_or(0) <= std::numeric_limits<u32>::max();
  record.thread = is_id ? issuer_of(event) : nobody;
  set_process(record.thread, values_.get<u32>(Field::process));
  record.action = action ? *action : action_of(values_.get<u8>(Field::major_function));
  record.file = values_.get<u64>(Field::file_object);
  record.file_key = values_.get<u64>(Field::file_key);
  record.bytes = values_.get<u64>(Field::bytes);
  record.path = values_.text(Field::path);
  for (auto* const analysis : analyses_) analysis->on_file_start(record);
  return true;
}

bool RecordReader::file_end(const Event& event) {
  const auto irp = values_.get<u64>(Field::irp);
  const auto status = values_.get<u32>(Field::exit_status);
  if (!irp || !status) return false;
  const FileEnd record{moment_of(event), *irp, *status, values_.get<u64>(Field::bytes)};
  for (auto* const analysis : analyses_) analysis->on_file_end(record);
  return true;
}

}  // namespace coldtrace::trace_analysis
