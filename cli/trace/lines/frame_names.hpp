#pragma once

#include <array>
#include <unordered_map>
#include <vector>

#include "coldtrace/core/text_buffer.hpp"
#include "coldtrace/trace_analysis/records/function_names.hpp"
#include "coldtrace/tracefile/names/value_names.hpp"

namespace coldtrace::cli {

// Names of code for the lines of one thread. Asks the names that all threads share only once for
// each address in an image.
class FrameNames {
 public:
  using FunctionName = trace_analysis::FunctionName;
  using ImageForm = tracefile::NameTables::ImageForm;

  // `functions` may be null: then only images are named. Both must outlive the object.
  FrameNames(const tracefile::NameTables& names, trace_analysis::FunctionNames* functions)
      : names_{names}, offsets_{names}, functions_{functions} {}
  FrameNames(const FrameNames&) = delete;
  FrameNames& operator=(const FrameNames&) = delete;

  bool has_functions() const { return functions_ != nullptr; }

  // A name in JSON, empty if it is not known, and its inexact_units().
  struct Text {
    std::string_view both;  // the units at the end
    u32 units_size = 0;
    u32 size = 0;  // of the name without escapes

    std::string_view json() const { return {both.data(), both.size() - units_size}; }
    std::string_view units() const { return {both.data() + json().size(), units_size}; }
  };

  // The text of its name. Valid until the next call.
  Text find_text(std::optional<u32> pid, u64 address, i64 time);

  // The method or image of an address, without symbol files. Valid until the next call.
  Text find_place(std::optional<u32> pid, u64 address, i64 time, ImageForm form);

  // Valid until the next call.
  const FunctionName& find(std::optional<u32> pid, u64 address, i64 time);

 private:
  // The last name of an address, and for what time it holds.
  struct KnownText {
    std::optional<u32> pid;
    u64 address = 0;
    i64 from = 0, to = 0;  // never
    std::string both;
    u32 units_size = 0, size = 0;

    Text text() const { return {both, units_size, size}; }
  };
  void set_text(KnownText& known, std::string_view text);

  const tracefile::NameTables& names_;
  trace_analysis::ImageOffsets offsets_;
  trace_analysis::FunctionNames* functions_;
  std::unordered_map<trace_analysis::ImagePlace, FunctionName, trace_analysis::ImagePlace::Hash>
      known_;
  FunctionName last_;
  std::array<std::vector<KnownText>, 2> known_texts_;  // by form, then by hash
  KnownText last_text_;
  std::string text_;
  core::TextBuffer json_;
};

// The name of the function at a code address, from symbol files or the .NET runtime, preceded by
// the path of the image as for addresses without a function; frames have only its file name. Empty
// if there are no such files, or no name.
std::string find_function_name(FrameNames& frames, const tracefile::NameTables& names,
                               const tracefile::Value& value, const tracefile::NameScope& scope);

}  // namespace coldtrace::cli
