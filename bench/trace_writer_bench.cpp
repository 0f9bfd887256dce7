// The cost of logging one event with the C writer: 24 bytes of data, from one thread, with the
// buffers discarded. `least_cycles` is from the processor's counter, for the best thousand events,
// which were not interrupted.

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include <benchmark/benchmark.h>
#include <coldtrace/trace_writer.h>

namespace {

constexpr unsigned buffer_size = 1 << 20;

class Processor {
 public:
  Processor() : memory_{std::make_unique<coldtrace_u64[]>(2 * buffer_size / 8)} {
    const coldtrace_clock clock{nullptr, nullptr, nullptr};
    coldtrace_start(&state, 0, buffers_.data(),
                    static_cast<coldtrace_u8*>(static_cast<void*>(memory_.get())), 2, buffer_size,
                    0, &clock);
  }

  void drop_full() {
    coldtrace_chunk chunk;
    for (;;) {
      const int oldest = static_cast<int>(state.buffers[0].state & 3U) == COLDTRACE_CLOSED ? 0 : 1;
      auto& buffer = state.buffers[oldest];
      if ((buffer.state & 3U) != COLDTRACE_CLOSED) return;
      chunk.index = static_cast<coldtrace_u32>(oldest);
      chunk.size = (buffer.state >> 2) * 8;
      buffer.state = COLDTRACE_IN_USE;
      coldtrace_release(&state, &chunk);
    }
  }

  coldtrace_processor state{};

 private:
  std::array<coldtrace_buffer, 2> buffers_{};
  std::unique_ptr<coldtrace_u64[]> memory_;
};

struct Event {
  std::array<coldtrace_u32, 6> words{};
};

// Releases full buffers without the CRC, which is the writer thread's cost.
template <class Log>
void measure(benchmark::State& state, Log log) {
  Processor processor;
  Event event;
  coldtrace_u64 least = ~coldtrace_u64{0};
  while (state.KeepRunningBatch(1000)) {
    const auto before = COLDTRACE_CYCLES();
    for (int i = 0; i < 1000; ++i) {
      event.words[0] += 1;
      log(processor.state, event);
    }
    least = std::min<coldtrace_u64>(least, COLDTRACE_CYCLES() - before);
    processor.drop_full();
  }
  if (processor.state.lost != 0) state.SkipWithError("events were lost");
  state.SetItemsProcessed(state.iterations());
  state.counters["least_cycles"] = static_cast<double>(least) / 1000;
}

void copied(benchmark::State& state) {
  measure(state, [](coldtrace_processor& processor, const Event& event) {
    coldtrace_write(&processor, 0x0204, 0, &event, sizeof event);
  });
}
BENCHMARK(copied);

void filled_in_place(benchmark::State& state) {
  measure(state, [](coldtrace_processor& processor, const Event& event) {
    coldtrace_entry entry;
    void* const data = coldtrace_reserve(&processor, 0x0204, 0, sizeof event, &entry);
    if (data == nullptr) return;
    *static_cast<Event*>(data) = event;
    coldtrace_commit(&entry);
  });
}
BENCHMARK(filled_in_place);

// The writer thread's cost for 64 KiB.
void checksum(benchmark::State& state) {
  const std::vector<coldtrace_u8> bytes(65536, 0x5a);
  for (auto _ : state) benchmark::DoNotOptimize(coldtrace_crc32c(0, bytes.data(), 65536));
  state.SetBytesProcessed(state.iterations() * 65536);
}
BENCHMARK(checksum);

}  // namespace
