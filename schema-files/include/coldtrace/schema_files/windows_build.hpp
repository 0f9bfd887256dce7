#pragma once

#include "coldtrace/core/integers.hpp"

namespace coldtrace::schema_files {

// A build of Windows, as traces and the versions of Windows' own files give it: 10.0.19041.
struct WindowsBuild {
  u32 major = 0, minor = 0, number = 0;

  // Whether both are of the same version: builds of different versions are not compared.
  [[nodiscard]] bool is_of(const WindowsBuild& other) const {
    return major == other.major && minor == other.minor;
  }
};

// How close a file's declarations are to the events of a trace, the closest first.
enum class SchemaRank : u8 {
  own_build,     // the file is of the traced build
  build_before,  // of the nearest earlier build with files
  other,         // of another build, or of none
  recreated,     // by a tool, from what Windows says of the provider
};

}  // namespace coldtrace::schema_files
