#include "coldtrace/trace_analysis/requests/file_table.hpp"

namespace coldtrace::trace_analysis {

u32 FileTable::add(std::string key, File file) {
  if (const auto known = numbers_.find(key); known != numbers_.end()) return known->second;
  if (files_.size() == most_files) {
    ++left_out_;
    return 0;
  }
  const auto number = static_cast<u32>(files_.size());
  numbers_.emplace(std::move(key), number);
  files_.push_back(std::move(file));
  return number;
}

u32 FileTable::number_of(std::string_view name) {
  if (name.empty()) return 0;
  return add(std::string{name}, {std::string{name}, false, {}});
}

// No name of the trace has the NUL.
u32 FileTable::number_of(const DiskMap::File& file) {
  return add(std::string{to_string(file.state)} + '\0' + file.path, {file.path, true, file.state});
}

}  // namespace coldtrace::trace_analysis
