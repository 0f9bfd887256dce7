#include "coldtrace/syscall-map/hook-table/hook_table_builder.hpp"

#include <algorithm>

#include "coldtrace/core/ascii.hpp"
#include "coldtrace/core/unreadable.hpp"
#include "coldtrace/syscall-map/stubs/agreement.hpp"
#include "coldtrace/syscall-map/table_names.hpp"
#include "syscall-map/hook-table/hook_services.hpp"

namespace coldtrace::syscall_map {
namespace {

constexpr std::string_view filter_table = "W32pServiceTableFilter";

class Builder {
 public:
  Builder(std::span<const HookTableSource> sources, const std::vector<NamedPlace>& symbols,
          const std::vector<KnownOffset>& types)
      : sources_{sources}, symbols_{symbols}, types_{types} {}

  HookTable build() {
    add_services();
    const auto* kernel = find(ImageRole::kernel);
    if (kernel == nullptr) return finish();
    table_.context_switch = find_context_switch(*kernel->view, symbols_);
    table_.thread_offsets = find_thread_offsets(*kernel->view, types_);
    table_.supported_interfaces = find_supported_interfaces(*kernel->view, table_.findings);
    table_.findings.merge(table_.context_switch.findings);
    table_.findings.merge(table_.thread_offsets.findings);
    return finish();
  }

  HookTable build_services() {
    add_services();
    return finish();
  }

 private:
  HookTable finish() {
    for (const auto& source : sources_)
      core::note_unreadable(source.view->image().file(), findings_of(source.description.role));
    return std::move(table_);
  }

  // Where what is odd in one image is said: its offsets are those of that file.
  core::Findings& findings_of(ImageRole role) {
    if (role != ImageRole::kernel)
      for (auto& image : table_.images)
        if (image.role == role) return image.findings;
    return table_.findings;
  }

  void add_services() {
    for (const auto& source : sources_) table_.images.push_back(source.description);
    std::stable_sort(table_.images.begin(), table_.images.end(),
                     [](const auto& a, const auto& b) { return a.role < b.role; });
    if (const auto* ntdll = find(ImageRole::ntdll)) ntdll_ = &map(*ntdll);
    if (const auto* win32u = find(ImageRole::win32u)) win32u_ = &map(*win32u);
    const auto* kernel = find(ImageRole::kernel);
    if (kernel == nullptr) return;
    add_kernel(*kernel);
    note_unnamed();
    for (const auto role : {ImageRole::win32k, ImageRole::win32kbase, ImageRole::win32kfull})
      if (const auto* win32k = find(role)) add_win32k(*win32k);
    if (win32u_ && !has_win32k_) add_user_services(win32u_->services, ServiceTable::win32k);
    std::sort(table_.services.begin(), table_.services.end(),
              [](const auto& a, const auto& b) { return a.number < b.number; });
  }

  const HookTableSource* find(ImageRole role) const {
    const auto found = std::find_if(sources_.begin(), sources_.end(), [&](const auto& source) {
      return source.description.role == role;
    });
    return found == sources_.end() ? nullptr : &*found;
  }

  const ServiceMap& map(const HookTableSource& source) {
    const auto& map = source.view->services();
    findings_of(source.description.role).merge(map.findings);
    return map;
  }

  std::optional<UserServices> user(const ServiceMap* map, ImageRole role,
                                   const HookTableSource& beside) const {
    if (!map) return std::nullopt;
    return UserServices{&map->services, compare_versions(find(role)->description.identity,
                                                         beside.description.identity)};
  }

  std::vector<std::string> known_names(const ServiceMap& kernel) const {
    std::vector<std::string> names;
    append_service_names(kernel, names);
    if (ntdll_) append_service_names(*ntdll_, names);
    for (const auto& symbol : symbols_)
      if (is_service_name(symbol.name)) names.push_back(symbol.name);
    return names;
  }

  void add_kernel(const HookTableSource& kernel) {
    const auto& stubs = map(kernel);
    auto found = find_service_tables(*kernel.view);
    table_.findings.merge_unknown(found.findings);
    std::erase_if(found.tables, [](const auto& table) { return table.table != ServiceTable::nt; });
    for (const auto& table : found.tables)
      table_.service_tables.push_back({ImageRole::kernel, table});
    if (found.tables.size() != 1) {
      // Two places that may be the table are not a place.
      add_stub_services(stubs.services);
      return;
    }
    const auto& located = found.tables.front();
    table_.services_tab =
        find_services_tab(*kernel.view, located, known_names(stubs), table_.findings);
    const auto* tab = table_.services_tab ? &*table_.services_tab : nullptr;
    HookServiceSources sources{ImageRole::kernel, kernel.description.identity.machine, located};
    sources.stubs = &stubs.services;
    sources.tab = tab;
    sources.symbols = &symbols_;
    sources.names = name_entries(*kernel.view, located, stubs.services, tab);
    const auto agreed = user(ntdll_, ImageRole::ntdll, kernel);
    if (agreed) name_after(*agreed, located, sources.names, table_.findings);
    if (sources.names.trusted) sources.user = &ntdll_->services;
    append(make_hook_services(sources, table_.findings));
  }

  void add_win32k(const HookTableSource& win32k) {
    auto found = find_service_tables(*win32k.view);
    findings_of(win32k.description.role).merge(found.findings);
    std::erase_if(found.tables,
                  [](const auto& table) { return table.table != ServiceTable::win32k; });
    std::vector<const LocatedServiceTable*> candidates;
    for (const auto& located : found.tables) {
      table_.service_tables.push_back({win32k.description.role, located});
      if (located.name != filter_table) candidates.push_back(&located);
    }
    if (candidates.size() != 1 || has_win32k_) return;
    has_win32k_ = true;
    const auto& located = *candidates.front();
    HookServiceSources sources{win32k.description.role, win32k.description.identity.machine,
                               located};
    sources.names = name_entries(*win32k.view, located, {}, nullptr);
    const auto agreed = user(win32u_, ImageRole::win32u, win32k);
    if (agreed) name_after(*agreed, located, sources.names, table_.findings);
    if (sources.names.trusted) sources.user = &win32u_->services;
    append(make_hook_services(sources, table_.findings));
  }

  // Of the services themselves: what the kernel does not name another source may have named.
  void note_unnamed() {
    u64 services = 0, unnamed = 0;
    for (const auto& service : table_.services) {
      if (service.table != ServiceTable::nt) continue;
      ++services;
      if (service.names.empty()) ++unnamed;
    }
    if (unnamed > 0)
      table_.findings.info("unnamed-services", std::nullopt,
                           "{} of {} services of the kernel {} no name{}", unnamed, services,
                           unnamed == 1 ? "has" : "have",
                           ntdll_ ? "" : "; an ntdll of the same build has them");
  }

  // A kernel whose table is not known still has its Zw stubs.
  void add_stub_services(const std::vector<Service>& stubs) {
    std::map<u16, StubName> user_names;
    if (ntdll_) {
      const auto agreement = compare_sides(ntdll_->services, stubs);
      const auto evidence = fmt::format(
          "ntdll, which has the same number for {} of {} shared names, "
          "names the number",
          agreement.equal, agreement.shared);
      for (const auto& named : agreement.named)
        user_names.emplace(named.kernel, StubName{named.name, evidence});
      if (agreement.shared > 0 && !agreement.trusted())
        table_.findings.warning("service-names-other-build", std::nullopt,
                                "{} of {} names have the number that ntdll gives them: below {} %, "
                                "it is not used for names",
                                agreement.equal, agreement.shared, least_agreement_percent);
    }
    append(make_stub_services(stubs, user_names));
  }

  // Without a win32k nothing confirms the numbers of win32u.
  void add_user_services(const std::vector<Service>& services, ServiceTable table) {
    std::vector<Service> own;
    for (const auto& service : services)
      if (service.table == table) own.push_back(service);
    append(make_stub_services(own, {}));
  }

  void append(std::vector<HookService> services) {
    for (auto& service : services) {
      const bool known =
          std::any_of(table_.services.begin(), table_.services.end(),
                      [&](const HookService& other) { return other.number == service.number; });
      if (!known) table_.services.push_back(std::move(service));
    }
  }

  std::span<const HookTableSource> sources_;
  const std::vector<NamedPlace>& symbols_;
  const std::vector<KnownOffset>& types_;
  const ServiceMap* ntdll_ = nullptr;
  const ServiceMap* win32u_ = nullptr;
  bool has_win32k_ = false;
  HookTable table_;
};

}  // namespace

std::optional<ImageRole> find_image_role(const pe::Identity& identity) {
  struct Row {
    std::string_view name;
    ImageRole role;
  };
  // A kernel exports its names as ntoskrnl.exe, whatever its file is called.
  constexpr Row rows[] = {
      {"ntoskrnl.exe", ImageRole::kernel},       {"ntkrnlmp.exe", ImageRole::kernel},
      {"ntkrnlpa.exe", ImageRole::kernel},       {"ntkrpamp.exe", ImageRole::kernel},
      {"ntdll.dll", ImageRole::ntdll},           {"win32u.dll", ImageRole::win32u},
      {"win32k.sys", ImageRole::win32k},         {"win32kbase.sys", ImageRole::win32kbase},
      {"win32kfull.sys", ImageRole::win32kfull},
  };
  const auto name = core::to_lower(identity.name);
  for (const auto& row : rows)
    if (row.name == name) return row.role;
  return std::nullopt;
}

HookTable build_hook_table(std::span<const HookTableSource> sources,
                           const std::vector<NamedPlace>& symbols,
                           const std::vector<KnownOffset>& types) {
  return Builder{sources, symbols, types}.build();
}

HookTable build_hook_services(std::span<const HookTableSource> sources,
                              const std::vector<NamedPlace>& symbols) {
  const std::vector<KnownOffset> no_types;
  return Builder{sources, symbols, no_types}.build_services();
}

}  // namespace coldtrace::syscall_map
