#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coldtrace/core/reader.hpp"

namespace coldtrace::registry {

// REG_*. Source: Windows SDK, winnt.h.
enum class ValueType : u32 {
  none = 0,
  text = 1,         // REG_SZ
  expand_text = 2,  // REG_EXPAND_SZ
  binary = 3,
  dword = 4,
  dword_big_endian = 5,
  link = 6,
  multi_text = 7,  // REG_MULTI_SZ
  qword = 11,
};

// A value of a key. The data need not be what its type promises: texts may lack their NUL, have an
// odd length or something after the NUL.
struct Value {
  std::string name;  // exact text; empty: the key's default value
  ValueType type = ValueType::none;
  std::vector<std::byte> data;

  [[nodiscard]] bool is_text() const;
  // The text as exact text, or the first of several; empty if the data is not text.
  [[nodiscard]] std::string text() const;
  // The texts of REG_MULTI_SZ without empty ones, or the one text of another type.
  [[nodiscard]] std::vector<std::string> texts() const;
  // A DWORD or QWORD, or binary data of up to 8 bytes; nothing otherwise.
  [[nodiscard]] std::optional<u64> number() const;
};

}  // namespace coldtrace::registry
