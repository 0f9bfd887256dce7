#pragma once

#include "coldtrace/core/integers.hpp"

namespace coldtrace::schema_files {

// A build of Windows, as traces and file versions of Windows' own files say it: 10.0.19041.
struct WindowsBuild {
  u32 major = 0, minor = 0, number = 0;

  // Of the same version: builds of others do not compare.
  [[nodiscard]] bool is_of(const WindowsBuild& other) const {
    return major == other.major && minor == other.minor;
  }
};

// How near what a file declares is to the events of a trace, the nearest first.
enum class SchemaRank : u8 {
  own_build,     // the file is of the build that was traced
  build_before,  // of the nearest before it, of which there are files
  other,         // of another, or of no version of Windows
  recreated,     // by a tool, from what Windows tells of the provider
};

}  // namespace coldtrace::schema_files
