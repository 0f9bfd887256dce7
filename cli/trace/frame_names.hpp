#pragma once

#include <unordered_map>

#include "coldtrace/trace_analysis/records/function_names.hpp"

namespace coldtrace::cli {

// Names of code for the lines of one thread, which asks the names that all threads share once for
// each address of an image.
class FrameNames {
 public:
  using FunctionName = trace_analysis::FunctionName;

  // `functions` may be null: then images alone are named. Both must outlive the object.
  FrameNames(const tracefile::NameTables& names, trace_analysis::FunctionNames* functions)
      : names_{names}, offsets_{names}, functions_{functions} {}
  FrameNames(const FrameNames&) = delete;
  FrameNames& operator=(const FrameNames&) = delete;

  // Appends what text() of its name is, which is made without one where images alone are named.
  void append_text(std::string& text, std::optional<u32> pid, u64 address, i64 time);

  // Valid until the next call.
  const FunctionName& find(std::optional<u32> pid, u64 address, i64 time);

 private:
  struct Place {
    u32 file;
    u64 offset;
    bool operator==(const Place&) const = default;
  };
  struct PlaceHash {
    std::size_t operator()(const Place& place) const {
      return std::hash<u64>{}((place.offset ^ u64{place.file} << 44U) * 0x9e37'79b9'7f4a'7c15U);
    }
  };

  const tracefile::NameTables& names_;
  trace_analysis::ImageOffsets offsets_;
  trace_analysis::FunctionNames* functions_;
  std::unordered_map<Place, FunctionName, PlaceHash> known_;
  FunctionName last_;
};

}  // namespace coldtrace::cli
