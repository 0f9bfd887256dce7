// Any bytes as a .ctrace file, with the CRCs made to fit unless the last byte is 0xff: a stream in
// either order has every event and gap that the first pass counted.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "coldtrace/core/crc32c.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/tracefile/ctrace/ctrace.hpp"

namespace {

using namespace coldtrace;

class Ignore final : public tracefile::FieldVisitor {
 public:
  void value(const tracefile::FieldSchema&, const tracefile::Value&) override {}
  void begin_array(const tracefile::FieldSchema&) override {}
  void end_array() override {}
  void begin_structure(const tracefile::FieldSchema&) override {}
  void end_structure() override {}
};

void store(std::vector<std::byte>& bytes, std::size_t at, u32 value) {
  std::memcpy(&bytes[at], &value, sizeof value);
}

void repair(std::vector<std::byte>& bytes, std::size_t at, std::size_t size, std::size_t crc) {
  store(bytes, at + crc, 0);
  store(bytes, at + crc, core::crc32c(std::span{bytes}.subspan(at, size)));
}

void repair(std::vector<std::byte>& bytes) {
  if (bytes.size() < 384 || bytes.back() == std::byte{0xff}) return;
  const auto size = std::min<u64>(*core::load<u32>(bytes, 12), bytes.size());
  repair(bytes, 0, static_cast<std::size_t>(size), 16);
  for (auto at = static_cast<std::size_t>(size); at + 64 <= bytes.size();) {
    const auto length = u64{64} + *core::load<u32>(bytes, at + 12);
    const bool is_buffer = core::to_chars(std::span{bytes}.subspan(at, 8)) == "CTBUFFER";
    if (!is_buffer || length > bytes.size() - at) {
      ++at;
      continue;
    }
    repair(bytes, at, static_cast<std::size_t>(length), 8);
    at += static_cast<std::size_t>(length);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = std::as_bytes(std::span{data, size});
  std::vector<std::byte> bytes(input.begin(), input.end());
  repair(bytes);
  const core::MemoryImage image{bytes};
  core::Findings findings;
  const auto trace = tracefile::Ctrace::open(image, {.kinds = true}, findings);
  if (!trace) {
    if (trace.error().offset > size) __builtin_trap();
    return 0;
  }
  for (const auto order : {tracefile::Order::time, tracefile::Order::file}) {
    using Item = tracefile::EventSequence::Item;
    const auto stream = (*trace)->stream({.order = order, .largest_buffers = 1 << 12});
    tracefile::EventDecoder decoder{(*trace)->schemas()};
    Ignore ignore;
    u64 events = 0;
    u64 gaps = 0;
    for (auto item = stream->next(); item != Item::end; item = stream->next()) {
      if (item == Item::gap) {
        if (stream->gap().offset > size) __builtin_trap();
        ++gaps;
        continue;
      }
      ++events;
      const auto& event = stream->event();
      decoder.decode(event, decoder.kind_of(event), ignore);
      if (event.pid)
        static_cast<void>((*trace)->names().find_process(*event.pid, event.name_time()));
    }
    if (events != (*trace)->scan().events || gaps != (*trace)->scan().gaps.size()) __builtin_trap();
  }
  return 0;
}
