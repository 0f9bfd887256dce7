#pragma once

#include <string>
#include <vector>

#include "coldtrace/core/reader.hpp"

namespace coldtrace::registry {

// A log beside a hive: SYSTEM.LOG1.
struct LogFile {
  std::string name;
  core::ByteView bytes;
  std::string unread;  // why it could not be read; empty if it was
};

// The format of a hive's log.
enum class LogFormat : u8 {
  unknown,      // empty, or not a hive's log
  dirty_pages,  // up to Windows 8: what a single flush writes
  entries,      // since Windows 8.1: one entry per flush
};

// How a log was used.
struct LogUse {
  std::string name;
  LogFormat format = LogFormat::unknown;
  u32 sequence = 0;  // the primary number of its base block
  u64 entries = 0;   // applied; dirty pages count as one
  u64 pages = 0;     // applied, of any size
  std::string left;  // why not all or nothing of it was applied; empty if all was
};

}  // namespace coldtrace::registry
