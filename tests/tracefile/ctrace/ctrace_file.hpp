#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/tracefile/ctrace/ctrace.hpp"
#include "coldtrace/tracefile/ctrace/ctrace_writer.hpp"

namespace coldtrace::test {

constexpr std::string_view small_schema = R"(
schema small {11111111-2222-3333-4444-555555555555};
event Number = 1 { u32 process is process; u64 number; }
event Text = 2 { ansi text; }
event Secret = 3 { u32 key_id; counted_bytes key is encrypted; }
)";

// A .ctrace file in memory: a writer whose cycles are those that the test says.
class CtraceFile {
 public:
  explicit CtraceFile(u32 processors = 1, std::string_view schema = small_schema,
                      u32 buffer_size = 4096, u32 flags = 0, u8 pointer_size = 8);

  // 300 cycles are one tick of 100 ns.
  void at_tick(u64 tick) { at(1000 + 300 * tick, start + tick); }
  void at(u64 cycles, u64 file_time) { writer.set_time(cycles, {file_time}); }

  static constexpr u64 start = 133'000'000'000'000'000;

  std::vector<std::byte> bytes;
  std::vector<std::size_t> offsets;  // of what was written at once: the header, then the buffers
  tracefile::CtraceWriter writer;
};

// An opened file with all that a stream says of it, in order.
struct ReadCtrace {
  struct One {
    u64 time;
    u16 id;
    u8 version;
    std::optional<u16> cpu;
    std::optional<u32> pid;
    std::string payload;
    bool approximate;
    friend bool operator==(const One&, const One&) = default;
  };
  bool opened = false;
  std::vector<One> events;
  std::vector<tracefile::Gap> gaps;
  core::Findings findings;
  u64 lost = 0, uncommitted = 0, missing = 0;
  bool closed = false;
  std::optional<u64> error_bound;
};

ReadCtrace read_ctrace(core::ByteView bytes, tracefile::StreamOptions options = {});
ReadCtrace read_ctrace(const core::ImageSource& image, tracefile::StreamOptions options = {});

}  // namespace coldtrace::test
