// Any two files as one trace: they are refused, or all events of those that are read come out in
// the order of time, each with its file.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

#include "coldtrace/core/reader.hpp"
#include "coldtrace/tracefile/opening/any_trace.hpp"

namespace {

using namespace coldtrace;
using namespace coldtrace::tracefile;

// The length of the first file stands before it, in four bytes, whose top bit is --force.
constexpr u32 force_bit = u32{1} << 31U;

std::vector<InputFile> files_of(core::ByteView bytes) {
  const auto length = core::load<u32>(bytes, 0);
  if (!length) return {};
  const auto rest = bytes.subspan(4);
  const auto first = std::min<std::size_t>(*length & ~force_bit, rest.size());
  std::vector<InputFile> files;
  files.push_back({"first", std::make_shared<core::MemoryImage>(rest.first(first))});
  files.push_back({"second", std::make_shared<core::MemoryImage>(rest.subspan(first))});
  return files;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span{data, size});
  auto files = files_of(bytes);
  if (files.empty()) return 0;
  AnyTrace::Options options;
  options.force = (*core::load<u32>(bytes, 0) & force_bit) != 0;
  core::Findings findings;
  const auto trace = AnyTrace::open(std::move(files), options, findings);
  if (!trace) return 0;
  const auto events = trace->stream({.largest_buffers = 1 << 16});
  u64 count = 0;
  auto before = std::numeric_limits<i64>::min();
  for (auto item = events->next(); item != EventSequence::Item::end; item = events->next()) {
    if (item != EventSequence::Item::event) continue;
    const auto& event = events->event();
    ++count;
    if (event.file >= trace->files().size()) __builtin_trap();
    // What has no time of its own stands where its buffer has it.
    if (event.has_time && event.timestamp < before && trace->files().size() > 1 &&
        trace->etl() != nullptr && findings.count("event-order") == 0 &&
        findings.count("event-late") == 0)
      __builtin_trap();
    if (event.has_time) before = event.timestamp;
  }
  if (count != trace->events()) __builtin_trap();
  return 0;
}
