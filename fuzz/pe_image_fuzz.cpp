// Any bytes, in both layouts: no crash, no hang, errors lie inside the file, and what is listed is
// bounded by the file's size.

#include "fuzz/pe_read_everything.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace coldtrace;
  const core::ByteView file = std::as_bytes(std::span{data, size});
  for (const auto layout : {pe::Layout::file, pe::Layout::memory}) {
    core::Findings findings;
    const auto image = pe::Image::open(file, layout, findings);
    if (!image) {
      if (image.error().offset > size) __builtin_trap();
      continue;
    }
    const auto totals = fuzz::read_everything(*image, findings);
    const u64 budget = u64{size} + (1 << 20);
    if (totals.text > 32 * budget || totals.exports > 0x20000 || totals.imports > 2'000'000 ||
        totals.resources > size || totals.messages > size || totals.functions > size)
      __builtin_trap();
    for (const auto& section : image->sections()) {
      const auto offset = image->addresses().to_offset(section.address);
      if (offset && *offset >= size) __builtin_trap();
    }
  }
  return 0;
}
