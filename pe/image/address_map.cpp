#include "coldtrace/pe/address_map.hpp"

#include <algorithm>

namespace coldtrace::pe {
namespace {

constexpr u64 page_size = 0x1000;
constexpr u64 sector_size = 0x200;

constexpr u64 round_up(u64 value, u64 alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

}  // namespace

AddressMap::AddressMap(u64 file_size, Layout layout, const OptionalHeader& optional,
                       std::span<const SectionHeader> sections, core::Findings& findings) {
  if (layout == Layout::memory) {
    regions_.push_back({0, std::max<u64>(file_size, optional.size_of_image), 0, file_size});
    return;
  }
  // Below a page the loader maps the file as it is, so that tiny images need no section.
  if (sections.empty() && optional.section_alignment < page_size) {
    const u64 size = round_up(std::max<u64>(optional.size_of_image, 1), page_size);
    regions_.push_back({0, size, 0, std::min(size, file_size)});
    return;
  }
  for (std::size_t i = 0; i < sections.size(); ++i)
    add_section(sections[i], optional, file_size, i, findings);
  add_headers(optional.size_of_headers, file_size, findings);

  std::stable_sort(regions_.begin(), regions_.end(),
                   [](const Region& a, const Region& b) { return a.start < b.start; });
  std::vector<Region> disjoint;
  disjoint.reserve(regions_.size());
  u64 end = 0;
  for (auto region : regions_) {
    if (region.start < end) {
      const auto overlap = end - region.start;
      findings.warning("section-overlap", std::nullopt,
                       "a section at RVA {:#x} starts inside the region that ends at {:#x}",
                       region.start, end);
      if (overlap >= region.size) continue;
      region = {end, region.size - overlap, region.offset + std::min(overlap, region.stored),
                region.stored - std::min(overlap, region.stored)};
    }
    end = region.start + region.size;
    disjoint.push_back(region);
  }
  regions_ = std::move(disjoint);
}

// The headers end where the first section starts, whatever SizeOfHeaders says.
void AddressMap::add_headers(u64 size, u64 file_size, core::Findings& findings) {
  size = std::min(size, file_size);
  u64 first = size;
  for (const auto& region : regions_)
    if (region.start > 0) first = std::min(first, region.start);
  if (first < size)
    findings.warning("headers-range", std::nullopt,
                     "SizeOfHeaders is {:#x}, the first section starts at RVA {:#x}", size, first);
  if (first > 0) regions_.insert(regions_.begin(), {0, first, 0, first});
}

void AddressMap::add_section(const SectionHeader& section, const OptionalHeader& optional,
                             u64 file_size, std::size_t index, core::Findings& findings) {
  // Below a page the loader maps the file as it is; from a page on it works in sectors and pages.
  const bool paged = optional.section_alignment >= page_size;
  const u64 offset =
      paged ? section.raw_offset / sector_size * sector_size : u64{section.raw_offset};
  const u64 slack = section.raw_offset - offset;
  const u64 raw = section.raw_offset == 0 ? 0 : u64{section.raw_size} + slack;
  const u64 virtual_size = section.virtual_size == 0 ? raw : u64{section.virtual_size};
  const u64 start = value(section.address);
  u64 size = paged ? round_up(virtual_size, page_size) : std::max(virtual_size, raw);
  constexpr u64 end_of_addresses = u64{1} << 32;
  if (size > end_of_addresses - start) {
    findings.warning("section-range", std::nullopt,
                     "section {} at RVA {:#x} with {:#x} bytes ends beyond 4 GiB", index, start,
                     size);
    size = end_of_addresses - start;
  }
  u64 stored = std::min(raw, size);
  const u64 left = file_size - std::min(offset, file_size);
  if (stored > left) {
    findings.warning("section-truncated", section.raw_offset,
                     "section {} needs {:#x} bytes at offset {:#x}, the file has {:#x}", index,
                     stored, offset, left);
    stored = left;
  }
  if (size > 0) regions_.push_back({start, size, offset, stored});
}

// A search without branches on what it finds, which for addresses in no order are mispredicted.
const AddressMap::Region* AddressMap::find(Rva rva) const {
  const u64 address = value(rva);
  if (regions_.empty()) return nullptr;
  const auto* region = regions_.data();
  for (std::size_t count = regions_.size(); count > 1;) {
    const std::size_t half = count / 2;
    region += half * static_cast<std::size_t>(region[half].start <= address);
    count -= half;
  }
  return address >= region->start && address - region->start < region->size ? region : nullptr;
}

std::optional<u64> AddressMap::to_offset(Rva rva) const {
  return Offsets{*this}.find(rva);
}

std::optional<Rva> AddressMap::to_rva(u64 offset) const {
  for (const auto& region : regions_)
    if (offset >= region.offset && offset - region.offset < region.stored)
      return Rva{static_cast<u32>(region.start + (offset - region.offset))};
  return std::nullopt;
}

std::optional<AddressMap::Stored> AddressMap::find_stored(Rva rva) const {
  const auto* region = find(rva);
  if (!region || value(rva) - region->start >= region->stored) return std::nullopt;
  return Stored{Rva{static_cast<u32>(region->start)}, region->offset, region->stored};
}

u64 AddressMap::stored_size(Rva rva) const {
  const auto stored = find_stored(rva);
  return stored ? stored->size - (value(rva) - value(stored->start)) : 0;
}

core::ByteView AddressMap::bytes(const core::FileView& file, Rva rva, u64 limit) const {
  const auto stored = find_stored(rva);
  if (!stored) return {};
  const u64 skipped = value(rva) - value(stored->start);
  return file.clip(stored->offset + skipped, std::min(limit, stored->size - skipped));
}

bool AddressMap::is_mapped(Rva rva) const {
  return find(rva) != nullptr;
}

}  // namespace coldtrace::pe
