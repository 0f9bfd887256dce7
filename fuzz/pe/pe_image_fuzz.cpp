// Any bytes, in both layouts: no crash, no hang, errors lie inside the file, and what is listed is
// bounded by the file's size. Imports
// are followed, in a set of this image alone.

#include "coldtrace/pe/import_plan.hpp"
#include "fuzz/pe/pe_read_everything.hpp"

namespace {

using namespace coldtrace;

// The image as a set of its own: once under a name of its imports, so that they lead to itself.
void plan_imports(const pe::Image& image, core::Findings& findings) {
  auto tables = pe::read_module_tables(image, "fuzz.dll", findings);
  for (const auto& slot : tables.slots)
    if (slot.dll >= tables.dlls.size()) __builtin_trap();
  if (!tables.dlls.empty()) tables.name = tables.dlls.front().name;
  const std::vector<const pe::ModuleTables*> set{&tables};
  const auto schema = pe::find_api_set_schema(image, findings);
  const auto plan = pe::make_import_plan(set, schema && *schema ? &**schema : nullptr,
                                         {{"*e*", "#1"}, {}}, findings);
  for (const auto& target : plan.targets)
    if (target.forwarders.size() > 16) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const core::ByteView file = std::as_bytes(std::span{data, size});
  for (const auto layout : {pe::Layout::file, pe::Layout::memory}) {
    core::Findings findings;
    const auto image = pe::Image::open(file, layout, findings);
    if (!image) {
      if (image.error().offset > size) __builtin_trap();
      continue;
    }
    const auto totals = fuzz::read_everything(*image, findings);
    plan_imports(*image, findings);
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
