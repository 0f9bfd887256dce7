// Only the container: every event of a sample through the merge, and the first pass, and what
// counting by kind adds to it. The environment variable COLDTRACE_TRACE names the sample.

#include <cstdlib>

#include <benchmark/benchmark.h>

#include "coldtrace/core/file.hpp"
#include "coldtrace/tracefile/etl/trace.hpp"

namespace {

using namespace coldtrace;

std::vector<std::byte> load_sample() {
  const char* const path = std::getenv("COLDTRACE_TRACE");
  auto bytes = core::read_whole_file(path != nullptr ? path : "", u64{1} << 32);
  return bytes ? std::move(*bytes) : std::vector<std::byte>{};
}

// One trace for all benchmarks, in memory.
struct Sample {
  std::vector<std::byte> bytes = load_sample();
  core::MemoryImage image{bytes};
  core::Findings findings;
  core::Result<tracefile::Trace> trace = tracefile::Trace::open(image, {}, findings);
};

Sample& sample() {
  static Sample loaded;
  return loaded;
}

bool missing(benchmark::State& state) {
  if (sample().trace) return false;
  state.SkipWithError("COLDTRACE_TRACE names no trace");
  return true;
}

void count_events(benchmark::State& state) {
  state.SetItemsProcessed(state.iterations() * static_cast<i64>(sample().trace->events()));
  state.SetBytesProcessed(state.iterations() * static_cast<i64>(sample().bytes.size()));
}

// Buffer headers, decompression and a look at every event; no names.
void first_pass(benchmark::State& state) {
  if (missing(state)) return;
  for (auto _ : state) {
    core::Findings findings;
    benchmark::DoNotOptimize(tracefile::Trace::open(sample().image, {.names = false}, findings));
  }
  count_events(state);
}
BENCHMARK(first_pass)->Unit(benchmark::kMillisecond);

// Decompression and the merge by time.
void merge(benchmark::State& state) {
  if (missing(state)) return;
  for (auto _ : state) {
    auto stream = sample().trace->stream({});
    while (stream.next() != tracefile::EventStream::Item::end)
      benchmark::DoNotOptimize(stream.event().timestamp);
  }
  count_events(state);
}
BENCHMARK(merge)->Unit(benchmark::kMillisecond);

// The first pass with events counted and measured by kind, as for `trace info`.
void first_pass_with_kinds(benchmark::State& state) {
  if (missing(state)) return;
  for (auto _ : state) {
    core::Findings findings;
    benchmark::DoNotOptimize(
        tracefile::Trace::open(sample().image, {.names = false, .kinds = true}, findings));
  }
  count_events(state);
}
BENCHMARK(first_pass_with_kinds)->Unit(benchmark::kMillisecond);

// Only decompression.
void buffers(benchmark::State& state) {
  if (missing(state)) return;
  const auto& scan = sample().trace->scan();
  tracefile::BufferLoader loader;
  for (auto _ : state)
    for (const auto& entry : scan.buffers)
      benchmark::DoNotOptimize(loader.load(sample().image, entry, scan.compression).bytes.data());
  count_events(state);
}
BENCHMARK(buffers)->Unit(benchmark::kMillisecond);

}  // namespace
