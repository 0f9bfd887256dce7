// A PE image behind four bytes with its size, and what is called its dump behind it: what is said
// to be changed is changed, lies in the image and is told once.

#include <algorithm>
#include <cstdint>
#include <span>

#include "coldtrace/core/reader.hpp"
#include "coldtrace/pe/expected_bytes.hpp"
#include "coldtrace/syscall-map/dump_check.hpp"

namespace {

using namespace coldtrace;

void require(bool condition) {
  if (!condition) __builtin_trap();
}

void check(const syscall_map::KernelView& view, const pe::ModuleDump& dump) {
  core::Findings findings;
  const pe::CodeSymbols symbols{&view, nullptr, findings};
  const std::vector<pe::KnownModule> known{{"one.dll", 0x10000, 0x1000}};
  auto result = syscall_map::check_dump(view, pe::read_identity(view.image(), findings), dump,
                                        symbols, {}, known, findings);
  require(result.states.size() == result.points.points.size());
  pe::ExpectedBytes expected{view, dump.base()};
  u64 end = 0;
  for (const auto& change : result.changes) {
    require(change.bytes.size > 0 && change.before.size() <= 32 && change.after.size() <= 32);
    if (change.rule) continue;
    require(value(change.bytes.rva) >= end);
    end = u64{value(change.bytes.rva)} + change.bytes.size;
    require(end <= view.image().optional_header().size_of_image);
    require(value(change.meaning.start) <= value(change.bytes.rva));
    const auto found = core::load<u8>(dump.bytes(change.bytes.rva, 1), 0);
    require(found && *found != std::to_integer<u8>(expected.load(change.bytes.rva, 1).front()));
    if (change.hook_point)
      require(result.points.points[*change.hook_point].rva == change.function->start);
  }
  for (const auto& row : result.rows) require(row.table < result.points.tables.size());
  for (const auto& pointer : result.loader_pointers) {
    require(!pointer.name.empty());
    require(dump.pointer(pointer.slot) == pointer.address);
    require(pointer.address != expected.load_pointer(pointer.slot));
    require((pointer.address == 0) == (pointer.fault == pe::SlotFault::zero));
  }
  for (const auto& one : result.service_values) {
    require(!one.structure.empty() && one.expected != one.value);
    require(!one.number || one.member == syscall_map::ServiceValue::argument_bytes);
  }
  require(result.imports.filled + result.imports.absent <= result.imports.slots);
  u64 absent = 0;
  for (const auto& range : result.comparison.absent) absent += range.size;
  require(absent == result.comparison.absent_bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span{data, size});
  const auto length = core::load<u32>(bytes, 0);
  if (!length) return 0;
  const auto file = bytes.subspan(4, std::min<std::size_t>(*length, bytes.size() - 4));
  const auto dumped = bytes.subspan(4 + file.size());
  core::Findings findings;
  const auto image = pe::Image::open(file, pe::Layout::file, findings);
  if (!image) return 0;
  const syscall_map::KernelView view{*image};
  for (const auto& layout : {std::optional<pe::Layout>{}, std::optional{pe::Layout::file},
                             std::optional{pe::Layout::memory}})
    if (const auto dump = pe::ModuleDump::open(view, dumped, {layout, std::nullopt}, findings))
      check(view, *dump);
  return 0;
}
