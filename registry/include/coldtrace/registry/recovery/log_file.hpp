#pragma once

#include <string>
#include <vector>

#include "coldtrace/core/reader.hpp"

namespace coldtrace::registry {

// A log that lies beside a hive: SYSTEM.LOG1.
struct LogFile {
  std::string name;
  core::ByteView bytes;
  std::string unread;  // why it could not be read; empty where it was
};

// How a log of a hive is made.
enum class LogFormat : u8 {
  unknown,      // empty, or no log of a hive
  dirty_pages,  // until Windows 8: what one flush writes, once
  entries,      // since Windows 8.1: one flush after the other
};

// How a log was used.
struct LogUse {
  std::string name;
  LogFormat format = LogFormat::unknown;
  u32 sequence = 0;  // the primary number of its base block
  u64 entries = 0;   // applied; of dirty pages all are one
  u64 pages = 0;     // applied, of whatever size
  std::string left;  // why nothing, or not all of it, was applied; empty where all was
};

}  // namespace coldtrace::registry
