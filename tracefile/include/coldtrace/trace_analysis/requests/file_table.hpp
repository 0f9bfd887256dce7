#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "coldtrace/trace_analysis/requests/disk_map.hpp"

namespace coldtrace::trace_analysis {

// Names of files by number. 0 is the file without a known name.
class FileTable {
 public:
  struct File {
    std::string name;
    bool from_snapshot;
    NameState state;  // in the snapshot
  };
  // Files beyond this are number 0, and counted.
  static constexpr std::size_t most_files = std::size_t{1} << 17;

  // A file that the trace names; 0 for an empty name.
  u32 number_of(std::string_view name);
  u32 number_of(const DiskMap::File& file);

  const File& operator[](u32 number) const { return files_[number]; }
  [[nodiscard]] std::size_t size() const { return files_.size(); }
  [[nodiscard]] u64 left_out() const { return left_out_; }  // how often

 private:
  u32 add(std::string key, File file);

  std::vector<File> files_{{}};
  std::unordered_map<std::string, u32> numbers_;
  u64 left_out_ = 0;
};

}  // namespace coldtrace::trace_analysis
