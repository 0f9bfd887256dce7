#include "coldtrace/syscall-map/hook-profiles/service_catalogue.hpp"

#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>

#include "coldtrace/core/ascii.hpp"

namespace coldtrace::syscall_map {
namespace {

// What the modules of a service table are called. Source: the names that the images have for
// themselves, and the debugger's "nt". Before Windows 8 stubs of win32k are in user32 and gdi32.
constexpr std::array<std::string_view, 6> nt_modules = {"nt",       "ntdll",    "ntoskrnl",
                                                        "ntkrnlmp", "ntkrnlpa", "ntkrpamp"};
constexpr std::array<std::string_view, 4> win32k_modules = {"win32k", "win32u", "user32", "gdi32"};
// More names of one service are not kept.
constexpr std::size_t most_names = 32;

// They have parts of win32k's services.
constexpr std::array<std::string_view, 2> win32k_parts = {"win32kbase", "win32kfull"};

std::span<const std::string_view> modules_of(ServiceTable table) {
  if (table == ServiceTable::nt) return nt_modules;
  return win32k_modules;
}

template <class Names>
bool contains(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void add_new(std::vector<std::string>& names, std::string_view name) {
  if (!contains(names, name)) names.emplace_back(name);
}

void add_spellings(std::vector<std::string>& spellings, const std::string& name) {
  add_new(spellings, name);
  if (!is_service_name(name)) return;
  add_new(spellings, to_nt_name(name));
  add_new(spellings, "Zw" + name.substr(2));
}

ListedService make(ServiceTable table) {
  ListedService service;
  service.module = to_string(table);
  for (const auto name : modules_of(table)) service.modules.emplace_back(name);
  return service;
}

}  // namespace

std::string to_module_name(std::string_view name) {
  auto module = core::to_lower(name);
  for (const std::string_view extension : {".exe", ".dll", ".sys", ".vxd"})
    if (module.size() > extension.size() && module.ends_with(extension)) {
      module.resize(module.size() - extension.size());
      break;
    }
  return module;
}

u32 ServiceCatalogue::add(ServiceTable table, std::string_view image,
                          const std::vector<std::string>& names, std::optional<u16> number) {
  auto service = make(table);
  if (!image.empty()) add_new(service.modules, to_module_name(image));
  service.names = names;
  service.number = number;
  return merge(std::move(service));
}

u32 ServiceCatalogue::add(const HookService& service) {
  const bool in_part = service.image && *service.image >= ImageRole::win32kbase;
  return add(service.table, in_part ? to_string(*service.image) : std::string_view{}, service.names,
             service.number);
}

u32 ServiceCatalogue::add_named(std::string_view module, const std::string& name) {
  const auto known = to_module_name(module);
  ListedService service;
  if (contains(nt_modules, known))
    service = make(ServiceTable::nt);
  else if (contains(win32k_modules, known) || contains(win32k_parts, known))
    service = make(ServiceTable::win32k);
  else
    service.module = module;
  add_new(service.modules, known);
  service.names.push_back(name);
  return merge(std::move(service));
}

u32 ServiceCatalogue::merge(ListedService service) {
  // Neither a module nor a name has a line break in it.
  const auto key =
      fmt::format("{}\n{}", to_module_name(service.module),
                  service.names.empty() ? fmt::format("\n{}", service.number.value_or(0))
                                        : to_nt_name(service.names.front()));
  const auto [place, is_new] = by_key_.emplace(key, static_cast<u32>(services_.size()));
  const auto index = place->second;
  const auto number = service.number;
  if (is_new) {
    auto& added = services_.emplace_back();
    added.module = service.module;
    added.number = number;
  }
  auto& known = services_[index];
  if (known.number != number) known.number.reset();
  for (const auto& module : service.modules) add_new(known.modules, module);
  const auto spellings_before = known.spellings.size();
  for (const auto& name : service.names) {
    if (known.names.size() == most_names) break;
    add_new(known.names, name);
    add_spellings(known.spellings, name);
  }
  for (auto i = spellings_before; i < known.spellings.size(); ++i)
    by_name_[known.spellings[i]].push_back(index);
  return index;
}

const std::vector<u32>& ServiceCatalogue::find(std::string_view name) const {
  static const std::vector<u32> none;
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? none : found->second;
}

}  // namespace coldtrace::syscall_map
