#include "syscall-map/service-tables/service_table_descriptor.hpp"

#include <algorithm>

namespace coldtrace::syscall_map {
namespace {

constexpr auto form = TableForm::va32;

// The limit is loaded shortly before it is stored: 8 bytes in XP.
constexpr u32 load_distance = 32;

class StoreFinder {
 public:
  explicit StoreFinder(const TableSearch& search) : search_{search}, image_{search.image()} {}

  DescriptorStores find(pe::Rva descriptor) {
    const auto& relocations = search_.relocations();
    for (std::size_t i = 0; i < relocations.size(); ++i) {
      const auto at = relocations[i].address;
      if (relocations[i].type != relocation_of(form) || !image_.is_executable(at)) continue;
      const auto target = search_.read_target(at, form);
      if (!target || *target < descriptor) continue;
      switch (value(*target) - value(descriptor)) {
        case 0x0:
          add_immediate(at, stores_.tables);
          break;
        case 0x8:
          add_limit(i);
          break;
        case 0xc:
          add_immediate(at, stores_.arguments);
          break;
        default:
          break;
      }
    }
    return std::move(stores_);
  }

 private:
  u8 byte_before(pe::Rva at, u32 distance) const {
    if (value(at) < distance) return 0;
    const pe::Rva place{value(at) - distance};
    return core::load<u8>(image_.bytes(place, 1), 0).value_or(0);
  }

  // mov dword ptr [at], imm32 with a relocated immediate
  void add_immediate(pe::Rva at, std::vector<DescriptorStore>& stores) const {
    if (byte_before(at, 2) != 0xc7 || byte_before(at, 1) != 0x05) return;
    const auto immediate = at + sizeof(u32);
    if (!search_.is_relocated(immediate, form)) return;
    if (const auto target = search_.read_target(immediate, form))
      stores.push_back({pe::Rva{value(at) - 2}, *target});
  }

  // mov [at], eax, behind mov eax, [limit]
  void add_limit(std::size_t index) {
    const auto& relocations = search_.relocations();
    const auto at = relocations[index].address;
    if (byte_before(at, 1) != 0xa3) return;
    while (index > 0) {
      const auto before = relocations[--index].address;
      if (value(at) - value(before) > load_distance) return;
      if (byte_before(before, 1) != 0xa1) continue;
      if (const auto limit = search_.read_target(before, form))
        stores_.limits.push_back({pe::Rva{value(at) - 1}, *limit});
      return;
    }
  }

  const TableSearch& search_;
  const pe::Image& image_;
  DescriptorStores stores_;
};

void remove_repeated(std::vector<DescriptorStore>& stores) {
  std::stable_sort(stores.begin(), stores.end(),
                   [](const auto& a, const auto& b) { return a.value < b.value; });
  stores.erase(std::unique(stores.begin(), stores.end(),
                           [](const auto& a, const auto& b) { return a.value == b.value; }),
               stores.end());
}

}  // namespace

DescriptorStores find_descriptor_stores(const TableSearch& search, pe::Rva descriptor) {
  auto stores = StoreFinder{search}.find(descriptor);
  remove_repeated(stores.tables);
  remove_repeated(stores.limits);
  remove_repeated(stores.arguments);
  return stores;
}

}  // namespace coldtrace::syscall_map
