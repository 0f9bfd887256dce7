#include "syscall-map/changed-code/service_values.hpp"

#include <algorithm>

#include "coldtrace/core/ascii.hpp"
#include "coldtrace/core/symbol_name.hpp"
#include "coldtrace/pe/expected_bytes.hpp"

namespace coldtrace::syscall_map {
namespace {

// KSERVICE_TABLE_DESCRIPTOR: four words as wide as a pointer, base, counters, limit (32 bits) and
// argument table. Source: Windows Research Kernel, inc/ke.h.
struct Descriptor {
  u64 base = 0;
  u32 limit = 0;
  u64 arguments = 0;

  bool is_empty() const { return base == 0 && limit == 0 && arguments == 0; }
};

class ValueFinder {
 public:
  ValueFinder(const KernelView& view, const pe::ModuleDump& dump,
              const std::vector<LocatedServiceTable>& tables, const std::vector<NamedPlace>& names,
              const std::vector<pe::KnownModule>& known)
      : image_{view.image()},
        dump_{dump},
        tables_{tables},
        names_{names},
        known_{known},
        expected_{view, dump.base()},
        width_{image_.optional_header().pointer_size()} {}

  std::vector<ChangedServiceValue> find() {
    for (const auto& table : tables_) compare_values(table);
    const auto is_nt = [](const auto& table) { return table.table == ServiceTable::nt; };
    // Of two places that could be the table none is what the descriptor should lead to.
    if (std::ranges::count_if(tables_, is_nt) == 1)
      compare_descriptors(*std::ranges::find_if(tables_, is_nt));
    return std::move(changed_);
  }

 private:
  std::optional<u32> load(pe::Rva rva) const {
    return core::load<u32>(dump_.present(rva, sizeof(u32)), 0);
  }

  // Those in other sections are changes of bytes.
  bool is_writable(pe::Rva rva) const {
    const auto* const section = image_.find_section(rva);
    return section && (section->characteristics & pe::section_writable) != 0;
  }

  void compare_values(const LocatedServiceTable& table) {
    if (table.limit && is_writable(*table.limit)) {
      const auto limit = load(*table.limit);
      const u64 filed = core::load<u32>(expected_.load(*table.limit, sizeof(u32)), 0).value_or(0);
      if (limit && *limit != filed)
        add(table.name, ServiceValue::limit, *table.limit, *limit, filed);
    }
    if (!table.arguments || !is_writable(*table.arguments)) return;
    for (std::size_t i = 0; i < table.entries.size(); ++i) {
      const auto rva = *table.arguments + i;
      const auto count = core::load<u8>(dump_.present(rva, 1), 0);
      const u64 filed = core::load<u8>(expected_.load(rva, 1), 0).value_or(0);
      if (!count || *count == filed) continue;
      add(table.name, ServiceValue::argument_bytes, rva, *count, filed);
      changed_.back().number =
          static_cast<u16>(i | (table.table == ServiceTable::win32k ? win32k_bit : 0));
    }
  }

  void compare_descriptors(const LocatedServiceTable& table) {
    std::vector<std::pair<std::string, pe::Rva>> places;
    const auto add_place = [&](std::string name, pe::Rva rva) {
      if (std::ranges::none_of(places, [&](const auto& one) { return one.second == rva; }))
        places.emplace_back(std::move(name), rva);
    };
    if (table.descriptor) add_place("KeServiceDescriptorTable", *table.descriptor);
    for (const auto& place : names_)
      if (const auto name = std::string{core::undecorated(place.name)};
          name == "KeServiceDescriptorTable" || name == "KeServiceDescriptorTableShadow" ||
          name == "KeServiceDescriptorTableFilter")
        add_place(name, place.rva);
    for (const auto& [name, rva] : places) {
      compare_own(table, name + "[0]", rva);
      compare_second(name, rva + u64{4} * width_);
    }
  }

  std::optional<Descriptor> read(pe::Rva rva) const {
    const auto base = dump_.pointer(rva);
    const auto limit = load(rva + u64{2} * width_);
    const auto arguments = dump_.pointer(rva + u64{3} * width_);
    if (!base || !limit || !arguments) return std::nullopt;
    return Descriptor{*base, *limit, *arguments};
  }

  // That of the kernel's own table.
  void compare_own(const LocatedServiceTable& table, const std::string& name, pe::Rva rva) {
    const auto found = read(rva);
    if (!found || found->is_empty()) return;
    const u64 base = dump_.base() + value(table.rva);
    if (found->base != base) add(name, ServiceValue::base, rva, found->base, base);
    if (found->limit != table.entries.size())
      add(name, ServiceValue::limit, rva + u64{2} * width_, found->limit, table.entries.size());
    if (!table.arguments) return;
    const u64 arguments = dump_.base() + value(*table.arguments);
    if (found->arguments != arguments)
      add(name, ServiceValue::arguments, rva + u64{3} * width_, found->arguments, arguments);
  }

  // That of win32k, which registers its table for threads with windows alone: the file does not
  // say where it is.
  void compare_second(const std::string& table, pe::Rva rva) {
    const auto found = read(rva);
    if (!found || found->base == 0) return;
    const auto name = table + "[1]";
    if (table == "KeServiceDescriptorTable")
      return add(name, ServiceValue::base, rva, found->base, 0);
    const auto is_win32k = [](const pe::KnownModule& module) {
      const auto last = module.name.find_last_of("\\/") + 1;
      return core::to_lower(module.name.substr(last)).starts_with("win32k");
    };
    const bool inside = dump_.rva_of_address(found->base).has_value();
    const bool elsewhere = std::ranges::any_of(known_, is_win32k) &&
                           std::ranges::none_of(known_, [&](const pe::KnownModule& module) {
                             return is_win32k(module) && module.contains(found->base);
                           });
    if (inside || elsewhere) add(name, ServiceValue::base, rva, found->base, std::nullopt);
  }

  void add(std::string name, ServiceValue kind, pe::Rva rva, u64 found, std::optional<u64> filed) {
    changed_.push_back({std::move(name), kind, std::nullopt, rva, found, filed});
  }

  const pe::Image& image_;
  const pe::ModuleDump& dump_;
  const std::vector<LocatedServiceTable>& tables_;
  const std::vector<NamedPlace>& names_;
  const std::vector<pe::KnownModule>& known_;
  pe::ExpectedBytes expected_;
  u32 width_;
  std::vector<ChangedServiceValue> changed_;
};

}  // namespace

std::vector<ChangedServiceValue> find_changed_service_values(
    const KernelView& view, const pe::ModuleDump& dump,
    const std::vector<LocatedServiceTable>& tables, const std::vector<NamedPlace>& names,
    const std::vector<pe::KnownModule>& known) {
  return ValueFinder{view, dump, tables, names, known}.find();
}

}  // namespace coldtrace::syscall_map
