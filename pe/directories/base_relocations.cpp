#include "coldtrace/pe/base_relocations.hpp"

#include <algorithm>
#include <cstring>

#include "coldtrace/core/sorting.hpp"
#include "coldtrace/core/unreadable.hpp"

namespace coldtrace::pe {
namespace {

// Four times what the largest browsers have.
constexpr u64 most_relocations = 4'000'000;

// Calls take(page, entries) for every block.
template <class Take>
void for_each_block(const Image& image, core::Findings& findings, Take&& take) {
  const auto& location = image.directory(Directory::base_relocations);
  if (value(location.address) == 0 || location.size == 0) return;
  const auto bytes = image.bytes(location.address, location.size);
  if (bytes.size() < location.size)
    findings.warning("relocation-range", image.offset_of(Directory::base_relocations),
                     "base relocations of {} bytes at RVA {:#x}, of which the file stores {}",
                     location.size, value(location.address), bytes.size());

  core::Reader in{bytes, "IMAGE_BASE_RELOCATION", image.offset_of(Directory::base_relocations)};
  constexpr u32 header_size = 8;
  u64 total = 0;
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
    total += entries.size() / 2;
    if (total > most_relocations) {
      findings.warning("relocation-count", at, "more than {} base relocations", most_relocations);
      break;
    }
    take(page, entries);
  }
}

RelocationType type_of(u16 entry) {
  return static_cast<RelocationType>(entry >> 12);
}

// Calls take(entry) for every relocation of a block.
template <class Take>
void for_each_entry(core::ByteView entries, Take&& take) {
  for (u64 i = 0; i + 1 < entries.size(); i += 2) {
    const auto entry = core::load<u16>(entries, i).value_or(0);
    if (type_of(entry) == RelocationType::absolute) continue;
    take(entry);
    if (type_of(entry) == RelocationType::highadj) i += 2;  // its second half is the low 16 bits
  }
}

}  // namespace

std::vector<BaseRelocation> read_base_relocations(const Image& image, core::Findings& findings) {
  const core::UnreadableNote note{image.file(), findings};
  std::vector<BaseRelocation> relocations;
  const auto declared = image.directory(Directory::base_relocations).size;
  relocations.reserve(std::min({declared / u64{2}, image.file().size() / 2, most_relocations}));
  for_each_block(image, findings, [&](Rva page, core::ByteView entries) {
    for_each_entry(entries, [&](u16 entry) {
      relocations.push_back({page + (entry & 0xfff), type_of(entry)});
    });
  });
  core::stable_sort_if_needed(relocations,
                              [](const auto& a, const auto& b) { return a.address < b.address; });
  return relocations;
}

u64 count_base_relocations(const Image& image, core::Findings& findings) {
  const core::UnreadableNote note{image.file(), findings};
  u64 count = 0;
  for_each_block(image, findings, [&](Rva, core::ByteView entries) {
    u32 in_block = 0;
    u32 pairs = 0;
    // Without branches and checks, many entries at once.
    const auto* const first = entries.data();
    for (u64 i = 0; i < entries.size() / 2; ++i) {
      u16 entry;
      std::memcpy(&entry, first + i * 2, 2);
      in_block += type_of(entry) == RelocationType::absolute ? 0U : 1U;
      pairs += type_of(entry) == RelocationType::highadj ? 1U : 0U;
    }
    if (pairs > 0) {
      in_block = 0;
      for_each_entry(entries, [&](u16) { ++in_block; });
    }
    count += in_block;
  });
  return count;
}

}  // namespace coldtrace::pe
