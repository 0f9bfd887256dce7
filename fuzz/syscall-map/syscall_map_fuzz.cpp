#include <string_view>

#include "coldtrace/pe/image.hpp"
#include "coldtrace/syscall-map/stubs/service_mapper.hpp"

using namespace coldtrace;

// Any bytes: a map whose services are in order, have a number of a table and say where it is
// from; a number that was read is the one that its immediate holds.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span{data, size});
  for (const auto layout : {pe::Layout::file, pe::Layout::memory}) {
    core::Findings findings;
    const auto image = pe::Image::open(bytes, layout, findings);
    if (!image) continue;
    const auto map = syscall_map::map_services(*image);
    if (map.services.empty() != (map.findings.count("no-services") == 1)) __builtin_trap();
    u16 last = 0;
    for (const auto& service : map.services) {
      const bool read = service.source == syscall_map::NumberSource::read;
      if (service.number < last || service.number >= 2 * syscall_map::win32k_bit ||
          service.evidence.empty() || read != service.raw_immediate.has_value() ||
          (read && (*service.raw_immediate & 0xffff) != service.number))
        __builtin_trap();
      last = service.number;
    }
  }
  return 0;
}
