#pragma once

#include <string>

#include "coldtrace/tracefile/name_tables.hpp"

namespace coldtrace::trace_analysis {

// Names what lies at an address of a process. Sources that know symbols are added by whoever has
// the files.
class FunctionNames {
 public:
  virtual ~FunctionNames() = default;

  // Empty when nothing is known.
  virtual std::string find(std::optional<u32> pid, u64 address, i64 time) const = 0;

 protected:
  FunctionNames() = default;
  FunctionNames(const FunctionNames&) = default;
  FunctionNames& operator=(const FunctionNames&) = default;
};

// "ntdll.dll+0x1f2a0", by the images that the trace says were loaded then.
class ImageOffsets final : public FunctionNames {
 public:
  // `names` must outlive it.
  explicit ImageOffsets(const tracefile::NameTables& names) : names_{names} {}
  explicit ImageOffsets(const tracefile::NameTables&&) = delete;

  std::string find(std::optional<u32> pid, u64 address, i64 time) const override;

 private:
  const tracefile::NameTables& names_;
};

}  // namespace coldtrace::trace_analysis
