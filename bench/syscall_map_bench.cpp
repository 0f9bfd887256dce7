#include <benchmark/benchmark.h>

#include "coldtrace/pe/export_directory.hpp"
#include "coldtrace/syscall-map/stubs/service_mapper.hpp"
#include "fixtures/builders/byte_writer.hpp"
#include "fixtures/builders/pe_image.hpp"

namespace coldtrace {
namespace {

// An x64 ntdll of the size of real ones: `services` stubs under two names each, and as many
// other exports.
fixtures::Bytes make_ntdll(u32 services) {
  constexpr u32 stride = 32;
  fixtures::PeSpec spec;
  fixtures::ByteWriter code;
  fixtures::PeExports exports;
  exports.module_name = "ntdll.dll";
  u16 ordinal = 1;
  for (u32 i = 0; i < services; ++i) {
    code.write_bytes(fixtures::to_bytes({0x4c, 0x8b, 0xd1, 0xb8})).write_u32(i);
    code.write_bytes(fixtures::to_bytes({0xf6, 0x04, 0x25, 0x08, 0x03, 0xfe, 0x7f, 0x01, 0x75, 0x03,
                                         0x0f, 0x05, 0xc3, 0xcd, 0x2e, 0xc3}));
    code.align(stride);
    for (const auto* prefix : {"NtService", "ZwService", "RtlFunction", "LdrFunction"}) {
      const bool stub = prefix[0] == 'N' || prefix[0] == 'Z';
      exports.entries.push_back({prefix + std::to_string(i), ordinal++,
                                 0x1000 + (stub ? i * stride : services * stride)});
    }
  }
  code.write_u8(0xc3);
  spec.sections[0].content = code.bytes();
  spec.exports = exports;
  return fixtures::build_pe(spec).bytes;
}

void read_exports(benchmark::State& state) {
  const auto file = make_ntdll(480);
  core::Findings findings;
  const auto image = pe::Image::open(file, pe::Layout::file, findings);
  for (auto _ : state) benchmark::DoNotOptimize(pe::read_export_directory(*image, findings));
}
BENCHMARK(read_exports);

// What `pe info` needs of the same image, which saves a second walk over the tables.
void count_exports(benchmark::State& state) {
  const auto file = make_ntdll(480);
  core::Findings findings;
  const auto image = pe::Image::open(file, pe::Layout::file, findings);
  for (auto _ : state) benchmark::DoNotOptimize(pe::count_exports(*image, findings));
}
BENCHMARK(count_exports);

void map_services(benchmark::State& state) {
  const auto file = make_ntdll(480);
  core::Findings findings;
  const auto image = pe::Image::open(file, pe::Layout::file, findings);
  for (auto _ : state) benchmark::DoNotOptimize(syscall_map::map_services(*image));
  state.SetItemsProcessed(state.iterations() * 480);
}
BENCHMARK(map_services);

}  // namespace
}  // namespace coldtrace
