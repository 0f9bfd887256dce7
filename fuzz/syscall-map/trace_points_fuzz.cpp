// A PE image behind four bytes with an RVA in it: whatever is planned there, on disk and in memory,
// is answered; what is eligible is an instruction of the file, and a table keeps all of it.

#include <cstdint>
#include <span>

#include <fmt/format.h>

#include "coldtrace/core/reader.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table_decoder.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table_differences.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table_encoder.hpp"
#include "coldtrace/syscall-map/trace-points/trace_facility.hpp"
#include "coldtrace/syscall-map/trace-points/trace_planner.hpp"

namespace {

using namespace coldtrace;
using namespace coldtrace::syscall_map;

void require(bool condition) {
  if (!condition) __builtin_trap();
}

void check(const TracePoint& point, const pe::Image& image) {
  if (!point.eligible()) return;
  require(point.rva && point.file_offset && !point.bytes.empty());
  require(image.is_executable(*point.rva));
  require(point.boundary != BoundaryState::refuted && point.bytes.front() != int3);
  require(core::load<u8>(image.bytes(*point.rva, 1), 0) == point.bytes.front());
}

void check_table(std::vector<TracePoint> points) {
  HookTable table;
  table.images.emplace_back();
  table.trace_points = std::move(points);
  const auto bytes = encode_hook_tables({&table, 1});
  // An address of all ones has no place in the format.
  if (!bytes) return;
  const auto decoded = decode_hook_tables(*bytes);
  require(decoded && decoded->size() == 1);
  require(compare_all(table, decoded->front()).empty());
}

void look(core::ByteView bytes, u32 rva, pe::Layout layout) {
  core::Findings findings;
  const auto image = pe::Image::open(bytes, layout, findings);
  if (!image) return;
  const std::vector<std::string> requests{fmt::format("{:#x}", rva), fmt::format("{}", rva ^ 1),
                                          "NtOpenThing", "NtOpenThing+4", "_NtBreak"};
  const std::vector<NamedPlace> symbols{{"_NtBreak@4", pe::Rva{rva & ~0xfU}}};
  const std::vector<HookService> no_services;
  auto points = plan_trace_points(*image, requests, {symbols, no_services}, findings);
  require(points.size() == requests.size());
  for (const auto& point : points) check(point, *image);
  require(trace_requests(points) == requests);
  check_table(std::move(points));
  require(!find_trace_facility(*image, find_supported_interfaces(*image, findings), symbols)
               .evidence.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span{data, size});
  const auto rva = core::load<u32>(bytes, 0);
  if (!rva) return 0;
  look(bytes.subspan(4), *rva, pe::Layout::file);
  look(bytes.subspan(4), *rva, pe::Layout::memory);
  return 0;
}
