#pragma once

#include <array>
#include <string>

#include "coldtrace/core/file_time.hpp"
#include "coldtrace/core/reader.hpp"
#include "coldtrace/tracefile/etl/time_zone.hpp"
#include "coldtrace/tracefile/events/clock.hpp"

namespace coldtrace::tracefile {

// TRACE_LOGFILE_HEADER, the payload of the first event of the file.
// Source: Windows SDK evntrace.h; offsets checked on 72 files.
struct LogfileHeader {
  // LogFileMode.
  static constexpr u32 circular = 0x2;
  static constexpr u32 preallocate = 0x20;
  static constexpr u32 private_logger = 0x800;
  static constexpr u32 relog = 0x10000;
  static constexpr u32 compressed = 0x4000000;
  static constexpr u32 no_per_processor = 0x10000000;

  u32 buffer_size;
  u8 major_version, minor_version, sub_version, sub_minor_version;
  u32 provider_version;  // build number of Windows
  u32 processors;
  core::FileTime end_time;  // 0: never closed
  u32 timer_resolution;     // 100 ns
  u32 maximum_file_size;    // MiB
  u32 log_file_mode;
  u32 buffers_written;  // 0: never closed
  u32 start_buffers;
  u32 pointer_size;
  u32 events_lost;
  u32 cpu_speed;  // MHz
  TimeZone time_zone;
  core::FileTime boot_time;
  u64 performance_frequency;
  core::FileTime start_time;
  u32 clock_type;
  u32 buffers_lost;
  std::string logger_name, log_file_name;

  // As find_version_text() takes it.
  [[nodiscard]] std::array<u32, 3> windows_version() const {
    return {major_version, minor_version, provider_version};
  }
};

// The payload of the header event; `pointer_size` is that of the event's header type.
core::Result<LogfileHeader> read_logfile_header(core::ByteView payload, unsigned pointer_size,
                                                u64 offset);

// The clock of the session whose header event has timestamp `first`.
[[nodiscard]] Clock make_clock(const LogfileHeader& header, i64 first);

}  // namespace coldtrace::tracefile
