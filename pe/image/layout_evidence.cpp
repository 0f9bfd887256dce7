#include "pe/image/layout_evidence.hpp"

#include <algorithm>
#include <array>

#include "coldtrace/core/reader.hpp"
#include "coldtrace/core/text.hpp"

namespace coldtrace::pe {
namespace {

constexpr u32 page_size = 0x1000;
constexpr u32 most_entries = 16;  // of a table that are looked at

// What both readings of an image have.
struct Headers {
  const core::FileView& file;
  Machine machine;
  const OptionalHeader& optional;
  std::span<const SectionHeader> sections;
  const AddressMap& as_file;
};

// What a table shows of itself at the place where `map` puts it. Each is strict enough that other
// bytes, and zeros above all, do not pass. Tables whose first entry others resemble (the C++ tables
// of functions look like debug data and like .pdata) are held against the sections, several entries
// of them.
class TableChecks {
 public:
  TableChecks(const Headers& headers, const AddressMap& map)
      : file_{headers.file}, map_{map}, optional_{headers.optional}, headers_{headers} {}

  bool fits(Directory index) const {
    const auto& [address, size] = optional_.directories[static_cast<std::size_t>(index)];
    switch (index) {
      case Directory::exports:
        return has_exports(address);
      case Directory::imports:
        return has_imports(address);
      case Directory::resources:
        return has_resources(address, size);
      case Directory::exceptions:
        return has_functions(address, size);
      case Directory::base_relocations:
        return has_relocations(address, size);
      case Directory::debug:
        return has_debug_data(address, size);
      default:
        return false;
    }
  }

 private:
  template <std::size_t Size>
  auto load(Rva at) const {
    return core::Fields<Size>::at(map_.bytes(file_, at, Size), 0);
  }

  bool is_inside(u32 address) const { return address != 0 && address < optional_.size_of_image; }

  bool has_name(u32 address) const {
    constexpr std::size_t longest_name = 260;
    const auto name =
        core::read_c_string(map_.bytes(file_, Rva{address}, longest_name + 1), longest_name);
    return name && name->size() > 2 && std::all_of(name->begin(), name->end(), [](char letter) {
             return letter > ' ' && letter < '\x7f';
           });
  }

  bool has_exports(Rva at) const {
    constexpr u32 most_functions = 0x10000;
    const auto table = load<40>(at);
    return table && table->get<u32, 0>() == 0 && has_name(table->get<u32, 12>()) &&
           table->get<u32, 20>() <= most_functions && is_inside(table->get<u32, 28>());
  }

  bool has_imports(Rva at) const {
    const auto descriptor = load<20>(at);
    return descriptor && is_inside(descriptor->get<u32, 16>()) &&
           has_name(descriptor->get<u32, 12>());
  }

  bool has_resources(Rva at, u32 size) const {
    constexpr u32 directory_bit = 0x8000'0000;
    constexpr u32 most_types = 0x1000;
    const auto root = load<24>(at);
    if (!root || root->get<u32, 0>() != 0) return false;
    const u32 entries = u32{root->get<u16, 12>()} + root->get<u16, 14>();
    const auto first = root->get<u32, 20>();
    return entries > 0 && entries < most_types && (first & directory_bit) != 0 &&
           (first & ~directory_bit) < size;
  }

  bool is_code(u32 address) const {
    const auto& sections = headers_.sections;
    return std::any_of(sections.begin(), sections.end(), [&](const auto& section) {
      const u32 size = std::max(section.virtual_size, section.raw_size);
      return section.executable() && address >= value(section.address) &&
             address - value(section.address) < size;
    });
  }

  bool has_functions(Rva at, u32 size) const {
    const bool arm = headers_.machine == Machine::arm64 || headers_.machine == Machine::armnt;
    return arm ? has_entries<8>(at, size, [this](const auto& entry) { return fits_arm(entry); })
               : has_entries<12>(at, size, [this](const auto& entry) { return fits_x64(entry); });
  }

  // Entries that ascend, of zeros left out, which incremental links have between them.
  template <u32 entry_size, typename Fits>
  bool has_entries(Rva at, u32 size, const Fits& fits) const {
    u32 last = 0;
    bool any = false;
    for (u32 i = 0; i < std::min(size / entry_size, most_entries); ++i) {
      const auto entry = load<entry_size>(at + u64{i} * entry_size);
      if (!entry) return false;
      const auto begin = entry->template get<u32, 0>();
      if (begin == 0 && entry->template get<u32, 4>() == 0) continue;
      if (begin < last || !is_code(begin) || !fits(*entry)) return false;
      last = begin;
      any = true;
    }
    return any;
  }

  // Healthy DLLs have some of no code.
  bool fits_x64(const auto& entry) const {
    const auto begin = entry.template get<u32, 0>();
    const auto end = entry.template get<u32, 4>();
    return begin == end ||
           (begin < end && is_code(end - 1) && is_inside(entry.template get<u32, 8>()));
  }

  // Unwind data is elsewhere or packed into the entry.
  bool fits_arm(const auto& entry) const {
    const auto unwind = entry.template get<u32, 4>();
    return (unwind & 3U) != 3 && ((unwind & 3U) != 0 || is_inside(unwind));
  }

  bool has_relocations(Rva at, u32 size) const {
    constexpr u32 header_size = 8;
    u32 last_page = 0;
    u32 done = 0;
    for (u32 i = 0; i < most_entries && size - done >= header_size; ++i) {
      const auto block = load<header_size>(at + done);
      if (!block) return false;
      const auto page = block->get<u32, 0>();
      const auto block_size = block->get<u32, 4>();
      if (i > 0 && page == 0 && block_size == 0) break;  // padding
      if (!is_inside(page) || page % page_size != 0 || page <= last_page ||
          block_size < header_size || (i == 0 && block_size == header_size) ||
          block_size % 2 != 0 || block_size > size - done)
        return false;
      last_page = page;
      done += block_size;
    }
    return done > 0;
  }

  // Where an entry has its data is said twice, by an RVA and by a file offset; of data that is not
  // loaded once, which shows nothing.
  bool has_debug_data(Rva at, u32 size) const {
    constexpr u32 most_types = 64;
    constexpr u32 entry_size = 28;
    const u32 entries = std::min(size / entry_size, most_entries);
    bool agrees = false;
    for (u32 i = 0; i < entries; ++i) {
      const auto entry = load<entry_size>(at + u64{i} * entry_size);
      if (!entry || entry->get<u32, 0>() != 0 || entry->get<u32, 12>() == 0 ||
          entry->get<u32, 12>() >= most_types)
        return false;
      if (entry->get<u32, 16>() == 0 || entry->get<u32, 20>() == 0) continue;
      if (headers_.as_file.to_offset(Rva{entry->get<u32, 20>()}) != entry->get<u32, 24>())
        return false;
      agrees = true;
    }
    return agrees && size % entry_size == 0;
  }

  const core::FileView& file_;
  const AddressMap& map_;
  const OptionalHeader& optional_;
  const Headers& headers_;
};

const SectionHeader* find_moved(std::span<const SectionHeader> sections) {
  const auto moved = std::find_if(sections.begin(), sections.end(), [](const auto& section) {
    return section.raw_offset != 0 && section.raw_size != 0 &&
           section.raw_offset < value(section.address);
  });
  return moved == sections.end() ? nullptr : &*moved;
}

}  // namespace

bool has_gap_of_zeros(const core::FileView& file, const OptionalHeader& optional,
                      std::span<const SectionHeader> sections) {
  const auto* const moved = find_moved(sections);
  if (!moved) return false;
  // A gap of megabytes tells no more than one of a page.
  const u64 from = std::max(moved->raw_offset, optional.size_of_headers);
  const u64 to = std::min<u64>(value(moved->address), from + page_size);
  if (to <= from) return false;
  const auto gap = file.slice(from, to - from);
  return gap && core::is_zero(*gap);
}

LayoutEvidence find_layout_evidence(const core::FileView& file, Machine machine,
                                    const OptionalHeader& optional,
                                    std::span<const SectionHeader> sections) {
  core::Findings unused;
  const AddressMap as_file{file.size(), Layout::file, optional, sections, unused};
  const AddressMap as_memory{file.size(), Layout::memory, optional, sections, unused};
  const Headers headers{file, machine, optional, sections, as_file};
  LayoutEvidence evidence;
  for (const auto index : {Directory::exports, Directory::imports, Directory::resources,
                           Directory::exceptions, Directory::base_relocations, Directory::debug}) {
    const auto& [address, size] = optional.directories[static_cast<std::size_t>(index)];
    if (value(address) == 0 || size == 0) continue;
    if (as_file.to_offset(address) == as_memory.to_offset(address)) continue;
    evidence.file += TableChecks{headers, as_file}.fits(index) ? 1U : 0U;
    evidence.memory += TableChecks{headers, as_memory}.fits(index) ? 1U : 0U;
  }
  return evidence;
}

}  // namespace coldtrace::pe
