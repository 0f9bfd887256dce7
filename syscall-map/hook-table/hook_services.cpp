#include "syscall-map/hook-table/hook_services.hpp"

#include <algorithm>

#include "coldtrace/core/symbol_name.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/syscall-map/stubs/name_hash.hpp"
#include "syscall-map/code/kernel_code.hpp"

namespace coldtrace::syscall_map {
namespace {

// Source: the x64 calling convention of Windows; four arguments are in registers.
constexpr u32 register_arguments = 4;

std::string sentence(NameSource source, const TableNames& names) {
  const auto agreement =
      fmt::format("which has the same number for {} of {} shared names", names.equal, names.shared);
  switch (source) {
    case NameSource::none:
      return "nothing names it";
    case NameSource::stub:
      return "the kernel exports a Zw stub of this number under the name";
    case NameSource::import:
      return "the entry jumps through an import of the name";
    case NameSource::services_tab:
      return "KiServicesTab has the name's hash for this function only";
    case NameSource::exported:
      return "the function is exported under the name";
    case NameSource::user:
      return fmt::format("the user side, {}, names the number", agreement);
    case NameSource::other_revision:
      return fmt::format("the user side, of another version, {}, names the number", agreement);
    case NameSource::same_version:
      return "the user side of the same version names the number, and nothing confirms that";
  }
  return "";
}

// How sure a name is that has this source.
Confidence confidence_of(NameSource source) {
  switch (source) {
    case NameSource::none:
    case NameSource::other_revision:
    case NameSource::same_version:
      return Confidence::low;
    case NameSource::user:
      return Confidence::medium;
    default:
      return Confidence::high;
  }
}

class Maker {
 public:
  Maker(const HookServiceSources& sources, core::Findings& findings)
      : sources_{sources}, findings_{findings} {
    if (sources.stubs) index(*sources.stubs, stubs_);
    if (sources.user) index(*sources.user, users_);
    if (sources.tab)
      for (const auto& record : sources.tab->entries) records_.emplace(record.target, &record);
    for (const auto& entry : sources.table.entries) ++uses_[entry.target];
    if (sources.symbols)
      for (const auto& place : *sources.symbols)
        if (const auto name = core::undecorated(place.name);
            name.starts_with("Nt") && is_service_name(name))
          symbols_.emplace(place.rva, name);
  }

  std::vector<HookService> make() {
    std::vector<HookService> services;
    for (std::size_t i = 0; i < sources_.table.entries.size(); ++i) services.push_back(make(i));
    return services;
  }

 private:
  using ByNumber = std::map<u16, const Service*>;

  static void index(const std::vector<Service>& services, ByNumber& numbers) {
    for (const auto& service : services) numbers.emplace(service.number, &service);
  }

  static const Service* find(const ByNumber& numbers, u16 number) {
    const auto found = numbers.find(number);
    return found == numbers.end() ? nullptr : found->second;
  }

  HookService make(std::size_t index) {
    const auto& table = sources_.table;
    const auto& entry = table.entries[index];
    HookService service;
    service.number =
        static_cast<u16>(index | (table.table == ServiceTable::win32k ? win32k_bit : u16{0}));
    service.table = table.table;
    service.image = sources_.image;
    service.target = entry.target;
    service.verified = table.verified;
    service.evidence.push_back(
        fmt::format("entry {:#x} of {} leads to {:#x}", index, table.name, value(entry.target)));
    name(service, sources_.names.entries[index]);
    arguments(service, entry);
    service.confidence = std::min(table.confidence, name_confidence_);
    return service;
  }

  void name(HookService& service, const EntryName& entry) {
    name_confidence_ = confidence_of(entry.source);
    if (!entry.name.empty()) {
      service.names.push_back(entry.name);
      service.evidence.push_back(
          fmt::format("{}: {}", entry.name, sentence(entry.source, sources_.names)));
    }
    name_by_symbols(service);
    add_aliases(service, find(users_, service.number));
    if (const auto* record = find_record(service)) service.name_hash = record->hash;
  }

  void name_by_symbols(HookService& service) {
    const auto [first, last] = symbols_.equal_range(*service.target);
    if (first == last) return;
    const bool confirmed = std::any_of(first, last, [&](const auto& symbol) {
      return !service.names.empty() && symbol.second == service.names.front();
    });
    if (confirmed) {
      service.evidence.push_back("the PDB has the name for the function");
      name_confidence_ = Confidence::high;
    } else if (service.names.empty() && std::next(first) == last && uses_[*service.target] == 1) {
      service.names.push_back(first->second);
      service.evidence.push_back(
          fmt::format("{}: the PDB has the name for the function", first->second));
      name_confidence_ = Confidence::high;
    } else if (!service.names.empty()) {
      findings_.warning("service-names-differ", std::nullopt,
                        "{} leads to a function that the PDB "
                        "calls {}",
                        service.names.front(), first->second);
      name_confidence_ = Confidence::low;
    }
  }

  // Other Nt names of the stub: a service may have two.
  static void add_aliases(HookService& service, const Service* user) {
    if (user == nullptr || service.names.empty() || !is_service_name(user->name)) return;
    if (to_nt_name(user->name) != service.names.front()) return;
    for (const auto& alias : user->aliases)
      if (!alias.starts_with("Zw") &&
          std::find(service.names.begin(), service.names.end(), alias) == service.names.end())
        service.names.push_back(alias);
  }

  // The record of KiServicesTab that is this service's: the one with its name's hash, else the
  // only one of its function.
  const ServicesTabEntry* find_record(const HookService& service) const {
    const auto [first, last] = records_.equal_range(*service.target);
    for (auto record = first; record != last; ++record)
      if (!service.names.empty() &&
          record->second->hash == hash_name(hashed_name(service.names.front())))
        return record->second;
    const bool alone = first != last && std::next(first) == last &&
                       first->second->numbers.size() == 1 && service.names.empty();
    return alone ? first->second : nullptr;
  }

  void arguments(HookService& service, const ServiceTableEntry& entry) {
    if (sources_.machine == pe::Machine::i386)
      arguments_x86(service, entry);
    else
      arguments_x64(service, entry);
  }

  void arguments_x86(HookService& service, const ServiceTableEntry& entry) {
    if (!entry.argument_bytes) return;
    const u32 bytes = *entry.argument_bytes;
    const auto agrees = [&](const Service* stub, std::string_view side) {
      if (stub == nullptr || !stub->argument_bytes) return true;
      if (*stub->argument_bytes != bytes) {
        findings_.warning("argument-bytes-differ", stub->file_offset,
                          "service {:#x} has {} bytes of arguments in {} and {} in its {} stub",
                          service.number, bytes, sources_.table.name, *stub->argument_bytes, side);
        return false;
      }
      service.evidence.push_back(fmt::format(
          "{} bytes of arguments in the table, and its {} stub removes as many", bytes, side));
      return true;
    };
    if (!agrees(find(stubs_, service.number), "kernel") ||
        !agrees(find(users_, service.number), "user"))
      return;
    service.argument_bytes = bytes;
    service.stack_argument_bytes = bytes;
  }

  // The byte of the table counts the arguments on the stack four bytes each; they take eight.
  void arguments_x64(HookService& service, const ServiceTableEntry& entry) {
    constexpr u32 slot = 8;
    if (entry.argument_bytes) service.stack_argument_bytes = *entry.argument_bytes / 4U * slot;
    const auto* record = find_record(service);
    if (record != nullptr) {
      const auto count = record->argument_count;
      const auto on_stack = count > register_arguments ? count - register_arguments : 0;
      if (entry.argument_bytes && on_stack != *entry.argument_bytes / 4U) {
        findings_.warning("argument-bytes-differ", std::nullopt,
                          "service {:#x} has {} on the stack in {} and {} in all in KiServicesTab",
                          service.number,
                          core::counted(*entry.argument_bytes / 4U, "argument", "arguments"),
                          sources_.table.name, count);
        service.stack_argument_bytes.reset();
        return;
      }
      service.argument_bytes = count * slot;
      service.evidence.push_back(
          core::counted(count, "argument in KiServicesTab", "arguments in KiServicesTab"));
    } else if (entry.argument_bytes && *entry.argument_bytes > 0) {
      service.argument_bytes = *service.stack_argument_bytes + register_arguments * slot;
      service.evidence.push_back(
          fmt::format("{} on the stack, so that all registers have one",
                      core::counted(*entry.argument_bytes / 4U, "argument", "arguments")));
    }
  }

  const HookServiceSources& sources_;
  core::Findings& findings_;
  ByNumber stubs_;
  ByNumber users_;
  std::multimap<pe::Rva, const ServicesTabEntry*> records_;
  std::multimap<pe::Rva, std::string> symbols_;
  std::map<pe::Rva, u64> uses_;
  Confidence name_confidence_ = Confidence::low;
};

}  // namespace

std::vector<HookService> make_hook_services(const HookServiceSources& sources,
                                            core::Findings& findings) {
  return Maker{sources, findings}.make();
}

std::vector<HookService> make_stub_services(const std::vector<Service>& stubs,
                                            const std::map<u16, StubName>& names) {
  std::vector<HookService> services;
  for (const auto& stub : stubs) {
    HookService service;
    service.number = stub.number;
    service.table = stub.table;
    if (is_service_name(stub.name)) service.names.push_back(to_nt_name(stub.name));
    const auto name = names.find(stub.number);
    service.argument_bytes = stub.argument_bytes;
    service.stack_argument_bytes = stub.argument_bytes;
    service.evidence = stub.evidence;
    if (service.names.empty() && name != names.end()) {
      service.names.push_back(name->second.name);
      service.evidence.push_back(name->second.evidence);
    }
    service.verified = stub.verified && !stub.hooked;
    services.push_back(std::move(service));
  }
  return services;
}

}  // namespace coldtrace::syscall_map
