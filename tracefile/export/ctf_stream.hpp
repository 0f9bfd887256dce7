#pragma once

#include <array>
#include <optional>
#include <string>

#include "coldtrace/trace_export/byte_sink.hpp"
#include "tracefile/export/ctf_events.hpp"

namespace coldtrace::trace_export {

// A file of packets, each of which is written once it is full. Of one processor, or of none.
class CtfStream {
 public:
  using TraceId = std::array<char, 16>;

  CtfStream(std::string name, std::optional<u32> cpu, const TraceId& id, const FileSink& write)
      : name_{std::move(name)}, cpu_{cpu}, id_{id}, write_{write} {}

  // Times never run backwards in a stream: one that is too early is that of the event before.
  // Whether it had to be.
  bool add(CtfEvent event, i64 time, std::string_view fields);
  // Events are missing before the next one.
  void lose();
  void flush();

 private:
  static constexpr std::size_t packet_size = std::size_t{1} << 16U;

  std::string name_;
  std::optional<u32> cpu_;
  TraceId id_;
  const FileSink& write_;
  std::string body_, packet_;
  i64 first_ = 0, last_ = 0;
  u64 lost_ = 0;
};

}  // namespace coldtrace::trace_export
