#pragma once

#include <string>

#include "coldtrace/tracefile/name_tables.hpp"

namespace coldtrace::trace_analysis {

// What lies at an address.
struct FunctionName {
  std::string function;  // "ntdll.dll!NtClose", "ntdll.dll+0x1f2a0"; empty when nothing is known
  u64 offset = 0;        // from there, in bytes

  // "ntdll.dll!NtClose+0x14"
  std::string text() const;
};

// Names what lies at an address of a process, or of the kernel, at a time. Sources that know
// symbols are added by whoever has the files.
class FunctionNames {
 public:
  virtual ~FunctionNames() = default;

  // May read files.
  virtual FunctionName find(std::optional<u32> pid, u64 address, i64 time) = 0;

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

  FunctionName find(std::optional<u32> pid, u64 address, i64 time) override;

 private:
  const tracefile::NameTables& names_;
};

}  // namespace coldtrace::trace_analysis
