#pragma once

#include <string>
#include <string_view>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::cli {

// The data for the page's script: one JSON text, then columns of integers, each as LEB128. It is
// packed with deflate and written in base64, so that no file name can be markup.
// docs/commands/report.md describes it.
class PackedData {
 public:
  // To be called first.
  void facts(std::string_view json);
  void number(u64 value);
  // Positive or negative: 0, -1, 1, -2 become 0, 1, 2, 3.
  void signed_number(i64 value);

  // Packed and in base64.
  std::string take();

 private:
  std::string bytes_;
};

}  // namespace coldtrace::cli
