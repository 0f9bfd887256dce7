#include "coldtrace/pdb/address_owner.hpp"

#include <algorithm>

namespace coldtrace::pe {

std::optional<AddressOwner> find_owner(std::span<const OwningModule> modules, u64 address) {
  const auto module = std::ranges::find_if(modules, [&](const OwningModule& candidate) {
    return address >= candidate.base && address - candidate.base < candidate.size;
  });
  if (module == modules.end()) return std::nullopt;
  AddressOwner owner{module->name, address - module->base, {}, 0};
  const auto place = module->symbols ? module->symbols->find(Rva{} + owner.offset) : std::nullopt;
  if (place) {
    owner.symbol = module->symbols->symbol(place->number).name;
    owner.symbol_offset = place->offset;
  }
  return owner;
}

}  // namespace coldtrace::pe
