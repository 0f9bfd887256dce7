// Any bytes as a kernel, on disk and in memory: what is found lies in its code, and a plan that
// calls a patch safe agrees with the branches that it lists.

#include <cstdint>
#include <span>

#include "coldtrace/syscall-map/context_switch.hpp"
#include "coldtrace/syscall-map/supported_interfaces.hpp"
#include "coldtrace/syscall-map/thread_offsets.hpp"

namespace {

using namespace coldtrace;
using namespace coldtrace::syscall_map;

void require(bool condition) {
  if (!condition) __builtin_trap();
}

void check(const ContextSwitch& found, const pe::Image& image) {
  // Where sections overlap, code may lie in one that is not executable.
  require(image.addresses().is_mapped(found.rva));
  require(found.first_bytes.size() <= 28);
  u32 copied = 0;
  for (const auto& instruction : found.plan.instructions) {
    require(instruction.rva == found.rva + copied);
    require(instruction.bytes.size() == instruction.length);
    copied += instruction.length;
  }
  require(found.plan.options.size() == 4);
  for (const auto& option : found.plan.options) {
    require(!option.reasons.empty());
    require(!option.safe || !option.sites.empty());
    if (!option.safe) continue;
    for (const auto& branch : found.plan.incoming) {
      if (option.method == PatchMethod::entry_jump || option.method == PatchMethod::hot_patch)
        require(branch.to <= found.rva || branch.to >= found.rva + option.copied);
      if (branch.outside && option.method != PatchMethod::inner_jump)
        require(branch.to <= found.rva);
      if (option.method == PatchMethod::inner_jump)
        require(!branch.outside || branch.to <= option.sites.front());
    }
  }
}

void look(core::ByteView bytes, pe::Layout layout) {
  core::Findings findings;
  const auto image = pe::Image::open(bytes, layout, findings);
  if (!image) return;
  // The second time with a symbol, at the first byte of code.
  std::vector<NamedPlace> symbols;
  for (const auto& section : image->sections())
    if (section.executable() && symbols.empty())
      symbols.push_back({"_SwapContext", section.address});
  for (const auto& known : {std::vector<NamedPlace>{}, symbols}) {
    const auto search = find_context_switch(*image, known);
    require(!search.candidates.empty() || !search.reasons.empty());
    for (std::size_t index = 0; index < search.candidates.size(); ++index) {
      check(search.candidates[index], *image);
      require(index == 0 || search.candidates[index - 1].rva < search.candidates[index].rva);
    }
  }
  for (const auto& field : find_thread_offsets(*image).fields) require(!field.evidence.empty());
  require(!find_supported_interfaces(*image, findings).empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span{data, size});
  look(bytes, pe::Layout::file);
  look(bytes, pe::Layout::memory);
  return 0;
}
