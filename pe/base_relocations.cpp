#include "pe/base_relocations.hpp"

#include <algorithm>

#include "core/sorting.hpp"

namespace coldtrace::pe {
namespace {

// Four times what the largest browsers have.
constexpr u64 most_relocations = 4'000'000;

}  // namespace

std::vector<BaseRelocation> read_base_relocations(const Image& image, core::Findings& findings) {
  std::vector<BaseRelocation> relocations;
  const auto& location = image.directory(Directory::base_relocations);
  if (value(location.address) == 0 || location.size == 0) return relocations;
  const auto bytes = image.addresses().tail(location.address, location.size);
  if (bytes.size() < location.size)
    findings.warning("relocation-range", image.addresses().to_offset(location.address),
                     "base relocations of {} bytes at RVA {:#x}, the file stores {}", location.size,
                     value(location.address), bytes.size());
  relocations.reserve(std::min<u64>(bytes.size() / 2, most_relocations));

  core::Reader in{bytes, "IMAGE_BASE_RELOCATION",
                  image.addresses().to_offset(location.address).value_or(0)};
  constexpr u32 header_size = 8;
  while (in.remaining() >= header_size) {
    const auto at = in.offset();
    const Rva page{in.read_u32("VirtualAddress")};
    const auto size = in.read_u32("SizeOfBlock");
    if (size == 0 && value(page) == 0) break;  // zero padding behind the last block
    if (size < header_size || size - header_size > in.remaining()) {
      findings.warning("relocation-block", at,
                       "IMAGE_BASE_RELOCATION.SizeOfBlock is {:#x} with {:#x} bytes left", size,
                       in.remaining() + header_size);
      break;
    }
    const auto entries = in.take(size - header_size, "TypeOffset");
    if (relocations.size() + entries.size() / 2 > most_relocations) {
      findings.warning("relocation-count", at, "more than {} base relocations", most_relocations);
      break;
    }
    for (u64 i = 0; i + 1 < entries.size(); i += 2) {
      const auto entry = core::load<u16>(entries, i).value_or(0);
      const auto type = static_cast<RelocationType>(entry >> 12);
      if (type == RelocationType::absolute) continue;
      relocations.push_back({page + (entry & 0xfff), type});
      if (type == RelocationType::highadj) i += 2;  // its second half is the low 16 bits
    }
  }
  core::stable_sort_if_needed(relocations,
                              [](const auto& a, const auto& b) { return a.address < b.address; });
  return relocations;
}

}  // namespace coldtrace::pe
