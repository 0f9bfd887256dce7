// Writes traces of the scheduler for trace_analysis.py, which says what they mean.

#include <string>

#include "fixtures/builders/etl_file.hpp"
#include "tests/tracefile/analysis/random_schedule.hpp"

namespace {

using namespace coldtrace;
using fixtures::ByteWriter;
using fixtures::EtlBuffer;
using fixtures::RandomSchedule;
using Step = RandomSchedule::Step;

constexpr u16 context_switch = 0x0524;

constexpr u16 ready_thread = 0x0532;

// A processor's events in a buffer of its own, as Windows logs them.
std::vector<EtlBuffer> to_buffers(const std::vector<Step>& steps) {
  std::vector<EtlBuffer> buffers;
  for (u16 cpu = 0; cpu < RandomSchedule::processors; ++cpu) buffers.emplace_back(cpu);
  for (const auto& step : steps) {
    auto& buffer = buffers[step.cpu];
    ByteWriter payload;
    if (step.is_switch) {
      payload.write_u32(step.new_tid)
          .write_u32(step.old_tid)
          .write_u8(9)
          .write_u8(8)
          .write_zeros(2);
      payload.write_u8(step.reason).write_u8(0).write_u8(step.old_state).write_zeros(9);
      buffer.perfinfo(context_switch, 4, step.time, payload);
    } else {
      payload.write_u32(step.readied).write_zeros(4);
      buffer.perfinfo(ready_thread, 2, step.time, payload);
    }
  }
  return buffers;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string folder = std::string{argv[1]} + "/";
  ByteWriter half;
  half.write_u32(11);
  fixtures::write_etl(folder + "cut.etl", {},
                      {EtlBuffer{0}
                           .perfinfo(context_switch, 4, 1'000'100, fixtures::context_switch(11, 0))
                           .perfinfo(context_switch, 4, 1'000'200, half)});
  const fixtures::EtlSession session{.buffer_size = 65536, .processors = 3};
  const auto write = [&](const char* name, const std::vector<Step>& steps) {
    fixtures::write_etl(folder + name, session, to_buffers(steps));
  };
  auto steps = RandomSchedule{7, 1500}.steps;
  write("random.etl", steps);
  std::erase_if(steps, [](const Step& step) { return !step.is_switch; });
  write("switches.etl", steps);
  write("overlap.etl", {{1'000'100, 0, true, 0, 4, 2, 0, 0, 0},
                        {1'000'150, 1, true, 0, 4, 2, 0, 0, 0},
                        {1'000'200, 1, true, 4, 0, 5, 6, 0, 0},
                        {1'000'300, 0, true, 4, 0, 5, 6, 0, 0}});
}
