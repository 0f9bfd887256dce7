#include "coldtrace/tracefile/etl/logfile_header.hpp"

#include "coldtrace/core/utf16.hpp"

namespace coldtrace::tracefile {
namespace {

constexpr u32 last_clock_type = 3;

std::string read_name(core::Reader& in) {
  const auto rest = in.take(in.remaining() & ~u64{1}, "name");
  return core::decode_utf16(core::until_nul_unit(rest)).utf8;
}

}  // namespace

core::Result<LogfileHeader> read_logfile_header(core::ByteView payload, unsigned pointer_size,
                                                u64 offset) {
  core::Reader in{payload, "TRACE_LOGFILE_HEADER", offset};
  LogfileHeader header{
      .buffer_size = in.read_u32("BufferSize"),
      .major_version = in.read_u8("MajorVersion"),
      .minor_version = in.read_u8("MinorVersion"),
      .sub_version = in.read_u8("SubVersion"),
      .sub_minor_version = in.read_u8("SubMinorVersion"),
      .provider_version = in.read_u32("ProviderVersion"),
      .processors = in.read_u32("NumberOfProcessors"),
      .end_time = {in.read_u64("EndTime")},
      .timer_resolution = in.read_u32("TimerResolution"),
      .maximum_file_size = in.read_u32("MaximumFileSize"),
      .log_file_mode = in.read_u32("LogFileMode"),
      .buffers_written = in.read_u32("BuffersWritten"),
      .start_buffers = in.read_u32("StartBuffers"),
      .pointer_size = in.read_u32("PointerSize"),
      .events_lost = in.read_u32("EventsLost"),
      .cpu_speed = in.read_u32("CpuSpeedInMHz"),
      .time_zone = (in.skip(u64{2} * pointer_size, "LoggerName"), read_time_zone(in)),
      .boot_time = (in.skip(4, "padding"), core::FileTime{in.read_u64("BootTime")}),
      .performance_frequency = in.read_u64("PerfFreq"),
      .start_time = {in.read_u64("StartTime")},
      .clock_type = in.read_u32("ReservedFlags"),
      .buffers_lost = in.read_u32("BuffersLost"),
      .logger_name = {},
      .log_file_name = {},
  };
  if (!in.ok()) return core::fail(in.error());
  const auto names = payload.subspan(in.consumed());
  const auto logger = core::until_nul_unit(names);
  header.logger_name = core::decode_utf16(logger).utf8;
  if (const auto rest = core::slice(names, logger.size() + 2, 0)) {
    core::Reader file{names.subspan(logger.size() + 2), "TRACE_LOGFILE_HEADER", in.offset()};
    header.log_file_name = read_name(file);
  }
  if (header.clock_type > last_clock_type)
    in.reject(core::Fault::bad_value, in.offset() - 8, "ReservedFlags", last_clock_type,
              header.clock_type);
  return in.finish(std::move(header));
}

Clock make_clock(const LogfileHeader& header, i64 first) {
  const auto type = static_cast<ClockType>(header.clock_type);
  if (type == ClockType::cpu_cycles)
    return {type, header.start_time, first, {.ticks = header.cpu_speed, .per = 10}};
  return {
      type, header.start_time, first, {.ticks = header.performance_frequency, .per = 10'000'000}};
}

}  // namespace coldtrace::tracefile
