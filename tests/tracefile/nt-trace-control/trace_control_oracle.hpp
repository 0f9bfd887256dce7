#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coldtrace/core/reader.hpp"

namespace coldtrace::tests {

// A call of NtTraceControl in the words of the document, apart from the product's own types.
struct ControlCase {
  u32 code = 0;
  int version = 1000;  // 600 to 603, and 1000
  bool kernel_mode = false;
  u32 in_buffer_len = 0;
  u32 out_buffer_len = 0;
  enum class Address { null, good, bad };
  Address in_buffer = Address::good;
  Address out_buffer = Address::good;
  Address return_size = Address::good;
  std::optional<core::ByteView> input;
};

// "passes", "unknown", "undecided", or the statuses as hexadecimal numbers with blanks between.
// Written from the document's sentences, one after the other, without the product's tables.
std::string documented_answer(const ControlCase& call);

}  // namespace coldtrace::tests
