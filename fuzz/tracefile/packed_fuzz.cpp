// Any packed bytes: traces come out within the limit and can be read to their ends, or what is
// wrong is told.

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "coldtrace/tracefile/packing/unpack.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace coldtrace;
  constexpr u64 limit = u64{1} << 20;
  const core::MemoryImage image{std::as_bytes(std::span{data, size})};
  const auto kind = core::recognize_bytes(std::as_bytes(std::span{data, size}));
  if (!tracefile::is_unpackable(kind)) return 0;
  core::Findings findings;
  const auto unpacked = tracefile::unpack(image, kind, limit, findings);
  if (!unpacked) return 0;
  u64 all = 0;
  std::array<std::byte, 4096> bytes{};
  for (const auto& trace : unpacked->files) {
    const auto length = trace.bytes->size();
    all += length;
    for (u64 at = 0; at < length; at += bytes.size())
      if (!trace.bytes->read_at(at, std::span{bytes}.first(static_cast<std::size_t>(
                                        std::min<u64>(bytes.size(), length - at)))))
        __builtin_trap();
  }
  if (all > limit) __builtin_trap();
  if (!unpacked->damage.empty() && findings.count("packed-damaged") == 0) __builtin_trap();
  return 0;
}
