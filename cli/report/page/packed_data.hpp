#pragma once

#include <string>
#include <string_view>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::cli {

// What the page's script reads: one JSON text, then columns of integers in LEB128. It is deflated
// and written in base64, so that no name from a file can be markup. docs/commands/report.md
// describes it.
class PackedData {
 public:
  // Must be called first.
  void facts(std::string_view json);
  void number(u64 value);
  // With either sign: 0, -1, 1, -2 become 0, 1, 2, 3.
  void signed_number(i64 value);

  // Packed and in base64.
  std::string take();

 private:
  std::string bytes_;
};

}  // namespace coldtrace::cli
