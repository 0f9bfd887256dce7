#include "coldtrace/syscall-map/table_names.hpp"

#include <algorithm>
#include <map>

#include "coldtrace/syscall-map/stubs/agreement.hpp"

namespace coldtrace::syscall_map {
namespace {

constexpr u16 number_of(const LocatedServiceTable& table, std::size_t index) {
  const u16 bit = table.table == ServiceTable::win32k ? win32k_bit : u16{0};
  return static_cast<u16>(index | bit);
}

class Namer {
 public:
  Namer(const LocatedServiceTable& table, std::vector<EntryName>& names) : names_{names} {
    for (const auto& entry : table.entries) ++uses_[entry.target];
  }

  bool is_alone(pe::Rva target) const {
    const auto found = uses_.find(target);
    return found != uses_.end() && found->second == 1;
  }

  // The first source wins: it is the surest.
  void name(std::size_t index, std::string_view name, NameSource source) {
    if (index >= names_.size() || names_[index].source != NameSource::none) return;
    names_[index] = {to_nt_name(name), source};
  }

 private:
  std::vector<EntryName>& names_;
  std::map<pe::Rva, u64> uses_;
};

}  // namespace

std::string_view to_string(NameSource source) {
  switch (source) {
    case NameSource::none:
      return "none";
    case NameSource::stub:
      return "stub";
    case NameSource::import:
      return "import";
    case NameSource::services_tab:
      return "services_tab";
    case NameSource::exported:
      return "export";
    case NameSource::user:
      return "user";
    case NameSource::other_revision:
      return "other_revision";
    case NameSource::same_version:
      return "same_version";
  }
  return "";
}

UserVersion compare_versions(const pe::Identity& user, const pe::Identity& image) {
  if (!user.file_version || !image.file_version) return UserVersion::unknown;
  return user.machine == image.machine && user.file_version == image.file_version
             ? UserVersion::same
             : UserVersion::other;
}

TableNames name_entries(const pe::ImageTables& tables, const LocatedServiceTable& table,
                        const std::vector<Service>& stubs, const ServicesTab* tab) {
  TableNames names;
  names.entries.resize(table.entries.size());
  Namer namer{table, names.entries};
  for (const auto& stub : stubs)
    if (stub.table == table.table && is_service_name(stub.name))
      namer.name(stub.number & (win32k_bit - 1U), stub.name, NameSource::stub);
  for (std::size_t i = 0; i < table.entries.size(); ++i)
    if (is_service_name(table.entries[i].import_name))
      namer.name(i, table.entries[i].import_name, NameSource::import);
  if (tab)
    for (const auto& record : tab->entries)
      if (!record.name.empty() && record.numbers.size() == 1)
        namer.name(record.numbers.front(), record.name, NameSource::services_tab);
  // Who found the table has reported a damaged export directory.
  std::map<pe::Rva, std::string_view> exported;
  for (const auto& entry : tables.exports().directory.exports)
    if (!entry.is_forwarder && entry.name.starts_with("Nt") && is_service_name(entry.name))
      exported.emplace(entry.address, entry.name);
  for (std::size_t i = 0; i < table.entries.size(); ++i) {
    const auto found = exported.find(table.entries[i].target);
    if (found != exported.end() && namer.is_alone(found->first))
      namer.name(i, found->second, NameSource::exported);
  }
  return names;
}

void name_after(const UserServices& user, const LocatedServiceTable& table, TableNames& names,
                core::Findings& findings) {
  std::vector<Service> own, other;
  for (std::size_t i = 0; i < names.entries.size(); ++i) {
    Service service;
    service.name = names.entries[i].name;
    service.number = number_of(table, i);
    own.push_back(std::move(service));
  }
  for (const auto& service : *user.services)
    if (service.table == table.table) other.push_back(service);
  const auto agreement = compare_sides(other, own);
  names.shared = agreement.shared;
  names.equal = agreement.equal;
  names.trusted = agreement.trusted();
  const auto name = [&](u16 number, const std::string& text, NameSource source) {
    const auto index = static_cast<std::size_t>(number & (win32k_bit - 1U));
    if (index < names.entries.size() && names.entries[index].source == NameSource::none)
      names.entries[index] = {to_nt_name(text), source};
  };
  if (agreement.trusted()) {
    const auto source =
        user.version == UserVersion::other ? NameSource::other_revision : NameSource::user;
    for (const auto& named : agreement.named) name(named.kernel, named.name, source);
    if (agreement.equal != agreement.shared)
      findings.warning("service-names-differ", std::nullopt,
                       "{} has different names for {} of {} entries that have one of their own",
                       table.name, agreement.shared - agreement.equal, agreement.shared);
    return;
  }
  if (agreement.shared > 0) {
    findings.warning("service-names-other-build", std::nullopt,
                     "{} of {} names of {} have the number that the user side gives them: below {} "
                     "%, it is not used for names",
                     agreement.equal, agreement.shared, table.name, least_agreement_percent);
  } else if (user.version == UserVersion::same) {
    for (const auto& service : other)
      if (is_service_name(service.name))
        name(service.number, service.name, NameSource::same_version);
    findings.info("service-names-unchecked", std::nullopt,
                  "{} has no names of its own; those of the user side are of the same version, and "
                  "nothing confirms them",
                  table.name);
  } else {
    findings.warning("service-names-other-build", std::nullopt,
                     "{} has no names of its own, and the user side is of another version: it is "
                     "not used for names",
                     table.name);
  }
}

void name_filter(const LocatedServiceTable& plain, const TableNames& plain_names,
                 const LocatedServiceTable& filter, TableNames& filter_names) {
  const auto same_arguments = std::equal(
      filter.entries.begin(), filter.entries.end(), plain.entries.begin(), plain.entries.end(),
      [](const auto& a, const auto& b) { return a.argument_bytes == b.argument_bytes; });
  if (!same_arguments) return;
  for (std::size_t i = 0; i < plain_names.entries.size(); ++i)
    if (filter_names.entries[i].name.empty()) filter_names.entries[i] = plain_names.entries[i];
}

}  // namespace coldtrace::syscall_map
