#include "coldtrace/pe/dumped_imports.hpp"

#include <algorithm>
#include <map>

#include "coldtrace/core/ascii.hpp"
#include "coldtrace/pe/expected_bytes.hpp"
#include "coldtrace/pe/export_directory.hpp"
#include "pe/dump/nearness.hpp"
#include "pe/image/dll_name.hpp"

namespace coldtrace::pe {
namespace {

struct Slot {
  std::size_t module;
  const ImportedFunction* function;
  u64 address;
};

class Slots {
 public:
  Slots(const ImageTables& file, const ModuleDump& dump, const std::vector<ImportedModule>& imports,
        const std::vector<KnownModule>& known)
      : image_{file.image()},
        dump_{dump},
        expected_{file, dump.base()},
        imports_{imports},
        known_{known} {}

  DumpedImports read() {
    for (std::size_t i = 0; i < imports_.size(); ++i)
      for (const auto& function : imports_[i].functions) add(i, function);
    // Where the file has zeros too, another slot of the table tells that it was filled.
    std::vector<bool> filled(imports_.size());
    for (const auto& slot : slots_) filled[slot.module] = true;
    for (const auto& slot : zeros_)
      if (filled[slot.module]) report(slot, SlotFault::zero);
    for (const auto& slot : slots_) result_.addresses.push_back(slot.address);
    std::sort(result_.addresses.begin(), result_.addresses.end());
    for (std::size_t first = 0; first < slots_.size();) {
      std::size_t last = first;
      while (last < slots_.size() && slots_[last].module == slots_[first].module) ++last;
      classify(first, last);
      first = last;
    }
    std::stable_sort(result_.misdirected.begin(), result_.misdirected.end(),
                     [](const auto& a, const auto& b) { return a.slot < b.slot; });
    return std::move(result_);
  }

 private:
  void add(std::size_t module, const ImportedFunction& function) {
    ++result_.slots;
    const auto address = dump_.pointer(function.slot);
    if (!address) {
      ++result_.absent;
      return;
    }
    const u64 filed = expected_.load_pointer(function.slot);
    if (*address == 0 && filed == 0) {
      if (!imports_[module].delayed) zeros_.push_back({module, &function, 0});
      return;
    }
    if (*address == 0) return report({module, &function, 0}, SlotFault::zero);
    // Not filled in: what the file has there, a default of the module's own where the API set has
    // no host, or the thunk that fills it.
    if (*address == filed) return;
    const bool own = dump_.rva_of_address(*address).has_value();
    if (own && imports_[module].delayed) return;
    ++result_.filled;
    if (own && is_own_export(module, function, *address)) return;
    if (own) return report({module, &function, *address}, SlotFault::inside);
    slots_.push_back({module, &function, *address});
  }

  // A module may be the host of an API set that it imports from.
  bool is_own_export(std::size_t module, const ImportedFunction& function, u64 address) {
    if (function.by_ordinal || !is_api_set_name(imports_[module].name)) return false;
    if (!own_exports_) {
      core::Findings unused;
      auto directory = read_export_directory(image_, unused);
      own_exports_ = directory && *directory ? std::move(**directory) : ExportDirectory{};
      own_index_ = index_of(*own_exports_);
    }
    const auto found = own_index_.names.find(function.name);
    return found != own_index_.names.end() && !found->second->is_forwarder &&
           dump_.base() + value(found->second->address) == address;
  }

  bool is_known(u64 address) const {
    return std::any_of(known_.begin(), known_.end(),
                       [&](const auto& module) { return module.contains(address); });
  }

  // Whether the slot leads into a module of the name that is imported from, or of an API set, which
  // exports the function itself, elsewhere.
  bool is_other(const Slot& slot) {
    const auto module = std::find_if(known_.begin(), known_.end(), [&](const auto& one) {
      return one.exports && one.contains(slot.address);
    });
    if (module == known_.end()) return false;
    const auto wanted = core::to_lower(imports_[slot.module].name);
    const bool named = core::to_lower(module->name) == wanted;
    const bool api_set = is_api_set_name(wanted);
    const auto& function = *slot.function;
    if (!named && (!api_set || function.by_ordinal)) return false;
    const auto& [names, ordinals] = exports_of(*module);
    const Export* found = nullptr;
    if (function.by_ordinal) {
      if (const auto at = ordinals.find(function.ordinal); at != ordinals.end()) found = at->second;
    } else if (const auto at = names.find(function.name); at != names.end()) {
      found = at->second;
    }
    return found && !found->is_forwarder && slot.address != module->base + value(found->address);
  }

  struct ExportIndex {
    std::map<std::string_view, const Export*> names;
    std::map<u32, const Export*> ordinals;
  };
  static ExportIndex index_of(const ExportDirectory& directory) {
    ExportIndex index;
    for (const auto& one : directory.exports) {
      if (!one.name.empty()) index.names.emplace(one.name, &one);
      index.ordinals.emplace(one.ordinal, &one);
    }
    return index;
  }
  const ExportIndex& exports_of(const KnownModule& module) {
    const auto [place, is_new] = indexes_.try_emplace(&module);
    if (is_new) place->second = index_of(*module.exports);
    return place->second;
  }

  // Whether no other slot leads near the address.
  bool is_alone(u64 address) const { return count_near(result_.addresses, address, image_) == 1; }

  // Slots of one DLL.
  void classify(std::size_t first, std::size_t last) {
    u64 known = 0;
    u64 alone = 0;
    for (std::size_t i = first; i < last; ++i) {
      known += is_known(slots_[i].address) ? 1U : 0U;
      alone += is_alone(slots_[i].address) ? 1U : 0U;
    }
    constexpr u64 fewest_together = 2;
    const bool together = last - first - alone >= fewest_together;
    for (std::size_t i = first; i < last; ++i) {
      if (is_other(slots_[i])) report(slots_[i], SlotFault::other);
      if (is_known(slots_[i].address)) continue;
      if (known > 0)
        report(slots_[i], SlotFault::outside);
      else if (together && is_alone(slots_[i].address))
        report(slots_[i], SlotFault::alone);
    }
  }

  void report(const Slot& slot, SlotFault fault) {
    const auto& module = imports_[slot.module];
    const auto& function = *slot.function;
    result_.misdirected.push_back(
        {function.slot, module.name, function.name,
         function.by_ordinal ? std::optional{function.ordinal} : std::nullopt, module.delayed,
         slot.address, fault});
  }

  const Image& image_;
  const ModuleDump& dump_;
  ExpectedBytes expected_;
  const std::vector<ImportedModule>& imports_;
  const std::vector<KnownModule>& known_;
  std::vector<Slot> slots_;  // that are filled, by DLL
  std::vector<Slot> zeros_;  // that the file has as zeros too
  std::map<const KnownModule*, ExportIndex> indexes_;
  std::optional<ExportDirectory> own_exports_;  // once they are asked for
  ExportIndex own_index_;
  DumpedImports result_;
};

}  // namespace

std::string_view to_string(SlotFault fault) {
  switch (fault) {
    case SlotFault::outside:
      return "outside";
    case SlotFault::alone:
      return "alone";
    case SlotFault::inside:
      return "inside";
    case SlotFault::zero:
      return "zero";
    case SlotFault::other:
      return "other";
  }
  return "outside";
}

DumpedImports read_dumped_imports(const ImageTables& file, const ModuleDump& dump,
                                  const std::vector<ImportedModule>& imports,
                                  const std::vector<KnownModule>& known) {
  return Slots{file, dump, imports, known}.read();
}

}  // namespace coldtrace::pe
