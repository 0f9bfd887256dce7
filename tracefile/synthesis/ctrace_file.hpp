#pragma once

#include <map>
#include <set>

#include "coldtrace/trace_synthesis/scenario_options.hpp"

namespace coldtrace::tracefile::synthesis {

// What kind of .ctrace file a scenario wants.
struct CtraceFileOptions {
  std::vector<std::string_view> schemas;  // built-in ones
  u16 processors = 2;
  bool boot = false;         // until the end there is no disk: what does not fit is lost
  bool wrap_around = false;  // the newest events stay
  u32 buffers = 2;           // of each processor
  u32 buffer_size = 16384;
};

// The .ctrace file that the logs of one machine write. Its clocks count 3 GHz.
class CtraceFile {
 public:
  static constexpr u64 start = 133'000'000'000'000'000;  // a day of June 2022

  CtraceFile(const CtraceFileOptions& options, const ScenarioOptions& scenario,
             const CtraceWriter::Sink& sink);

  // `time` is in ticks since the start.
  void write(u64 time, u16 processor, u16 type, const CtraceData& data);
  void loss_begins(u64 time, u16 processor);
  void loss_ends(u64 time, u16 processor);
  void end(u64 time);

  // Of processors whose first buffers were overwritten, the time of the first entry that is left.
  const std::map<u16, u64>& begins_late() const { return begins_late_; }

 private:
  CtraceWriter::Sink filter(const CtraceWriter::Sink& sink);
  void note_first(core::ByteView bytes);
  void set_time(u64 time);
  void drain(u64 time);

  std::set<u16> losing_;  // processors whose buffers do not reach the file
  std::set<u16> begun_;   // processors with a buffer in the file
  std::map<u16, u64> begins_late_;
  CtraceWriter writer_;
  bool keeps_buffers_;
  u64 flushed_ = 0;
};

}  // namespace coldtrace::tracefile::synthesis
