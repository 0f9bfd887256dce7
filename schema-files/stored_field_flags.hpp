#pragma once

#include "coldtrace/core/integers.hpp"

namespace coldtrace::schema_files {

// Flags of a field in a store.
struct StoredField {
  static constexpr u64 optional = 1;
  static constexpr u64 padding = 2;
  static constexpr u64 mapped = 4;     // the index of a map follows
  static constexpr u64 structure = 8;  // its fields follow
};

}  // namespace coldtrace::schema_files
