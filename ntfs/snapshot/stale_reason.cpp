#include "coldtrace/ntfs/stale_reason.hpp"

namespace coldtrace::ntfs {

StaleReason find_stale_reason(const RecordTable& records, FileReference file) {
  if (file.record >= records.size()) return StaleReason::outside_table;
  if (!records.has(file.record)) return StaleReason::no_record;
  const auto summary = records.summary(file.record);
  if (!summary.in_use) return StaleReason::not_in_use;
  return summary.extension ? StaleReason::extension : StaleReason::another_file;
}

std::string_view to_string(StaleReason reason) {
  switch (reason) {
    case StaleReason::another_file:
      return "another_file";
    case StaleReason::not_in_use:
      return "not_in_use";
    case StaleReason::extension:
      return "extension";
    case StaleReason::no_record:
      return "no_record";
    case StaleReason::outside_table:
      break;
  }
  return "outside_table";
}

}  // namespace coldtrace::ntfs
