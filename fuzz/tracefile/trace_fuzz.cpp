// Any bytes: a trace is refused with a place inside the file, or all its events come out, in the
// order of time and no more than the first pass counted, with fields that stay inside the payload.

#include <cstdint>
#include <span>

#include "coldtrace/tracefile/etl/trace.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace coldtrace;
  const core::MemoryImage image{std::as_bytes(std::span{data, size})};
  core::Findings findings;
  const auto trace = tracefile::Trace::open(image, {}, findings);
  if (!trace) {
    if (trace.error().offset > size + 4096) __builtin_trap();
    return 0;
  }
  tracefile::EventDecoder decoder{trace->schemas()};
  auto stream = trace->stream({.largest_buffers = 1 << 16});
  u64 events = 0;
  for (auto item = stream.next(); item != tracefile::EventStream::Item::end; item = stream.next()) {
    if (item != tracefile::EventStream::Item::event) continue;
    const auto& event = stream.event();
    ++events;
    const auto& kind = decoder.kind_of(event);
    if (decoder.measure(event, kind).consumed > event.payload.size()) __builtin_trap();
    (void)trace->clock().to_file_time(event.timestamp);
  }
  if (events != trace->events()) __builtin_trap();
  return 0;
}
