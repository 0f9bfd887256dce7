#include "syscall-map/stubs/stub_run.hpp"

#include <algorithm>
#include <optional>

#include "syscall-map/stubs/stub.hpp"

namespace coldtrace::syscall_map {
namespace {

// Service numbers have 12 bits below the table's.
constexpr u32 most_services = 0x1000;

constexpr u32 stride_of(pe::Machine machine) {
  return machine == pe::Machine::amd64 ? 32 : 20;
}

std::optional<Stub> decode_kernel_stub(StubDecoder& decoder, i64 rva) {
  if (rva < 0 || rva > 0xffff'ffff) return std::nullopt;
  const auto stub = decoder.decode(pe::Rva{static_cast<u32>(rva)});
  if (!stub || stub->place != StubPlace::kernel) return std::nullopt;
  return stub;
}

}  // namespace

core::Findings complete_kernel_run(const pe::Image& image, std::vector<Service>& services) {
  core::Findings findings;
  const auto known = std::ranges::find_if(services, &Service::kernel_stub);
  if (known == services.end()) return findings;
  const i64 stride = stride_of(image.machine());
  const i64 start = static_cast<i64>(value(known->rva)) - known->number * stride;
  StubDecoder decoder{image, false};
  const auto gate = decode_kernel_stub(decoder, value(known->rva))->gate;

  std::vector<bool> exported(most_services);
  for (const auto& service : services) {
    if (service.number >= most_services) continue;
    exported[service.number] = true;
    if (value(service.rva) != start + service.number * stride)
      findings.warning("kernel-run", service.file_offset,
                       "{} with number {:#x} is not in its place in the run of stubs, {:#x}",
                       service.name, service.number, start + service.number * stride);
  }
  for (u32 number = 0; number < most_services; ++number) {
    const auto stub = decode_kernel_stub(decoder, start + number * stride);
    // The run ends at the first place behind all exported stubs that holds none.
    if (!stub || stub->number != number) {
      if (std::find(exported.begin() + number, exported.end(), true) == exported.end()) break;
      findings.warning("kernel-run", std::nullopt,
                       "the run of stubs has none for number {:#x} at RVA {:#x}", number,
                       start + number * stride);
      continue;
    }
    if (stub->gate != gate)
      findings.warning("kernel-gate", std::nullopt,
                       "the stub of number {:#x} leads to {}, others to {}", number,
                       stub->gate ? pe::to_string(*stub->gate) : "nothing",
                       gate ? pe::to_string(*gate) : "nothing");
    if (exported[number]) continue;
    const pe::Rva rva{static_cast<u32>(start + number * stride)};
    services.push_back(to_service(
        image, rva, *stub,
        fmt::format("at its place in the run of {} stubs, no export names it", stub->shape)));
  }
  return findings;
}

}  // namespace coldtrace::syscall_map
