#pragma once

#include <string>
#include <string_view>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::cli {

// What the page's script reads: one JSON text, then columns of whole numbers, each as LEB128.
// Packed with deflate and written in base64, no name of a file can be markup.
// docs/commands/report.md describes it.
class PackedData {
 public:
  // To be called first.
  void facts(std::string_view json);
  void number(u64 value);
  // Of either sign: 0, -1, 1, -2 become 0, 1, 2, 3.
  void signed_number(i64 value);

  // Packed and in base64.
  std::string take();

 private:
  std::string bytes_;
};

}  // namespace coldtrace::cli
