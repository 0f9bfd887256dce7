#include "registry/driver-check/system_reader.hpp"

#include <fmt/format.h>

namespace coldtrace::registry {
namespace {

using ClassNames = std::map<std::string, std::optional<std::string>>;

// Numbers of keys "ControlSet001".
std::optional<u64> set_number(std::string_view name) {
  constexpr std::string_view prefix = "controlset";
  const auto text = lower(name);
  if (text.size() != prefix.size() + 3 || !text.starts_with(prefix)) return std::nullopt;
  u64 number = 0;
  for (const char digit : text.substr(prefix.size())) {
    if (digit < '0' || digit > '9') return std::nullopt;
    number = number * 10 + static_cast<u64>(digit - '0');
  }
  return number;
}

// Takes the current set; where that is not there the default one, or the first.
std::optional<Key> read_sets(const Key& root, ControlSets& sets) {
  std::map<u64, Key> keys;
  const auto all = root.subkeys();
  sets.whole = all.size() == root.subkey_count();
  for (const auto& key : all)
    if (const auto number = set_number(key.name())) keys.emplace(*number, key);
  for (const auto& [number, key] : keys) sets.present.insert(number);
  if (const auto select = root.find("Select")) {
    sets.key = select->path();
    sets.current = select->number("Current");
    sets.default_ = select->number("Default");
    sets.failed = select->number("Failed");
    sets.last_known_good = select->number("LastKnownGood");
  }
  if (keys.empty()) return std::nullopt;
  auto taken = keys.begin();
  for (const auto wanted : {sets.default_, sets.current})
    if (const auto found = keys.find(wanted.value_or(0)); found != keys.end()) taken = found;
  sets.name = taken->second.name();
  return taken->second;
}

// Names that begin with '+' are of groups.
void read_dependencies(const Key& key, Service& service) {
  for (auto& name : key.texts("DependOnService")) {
    if (name.starts_with('+'))
      service.groups.push_back(name.substr(1));
    else
      service.services.push_back(std::move(name));
  }
  for (auto& name : key.texts("DependOnGroup")) service.groups.push_back(std::move(name));
}

void read_services(const Key& set, Configuration& into) {
  const auto services = set.find("Services");
  if (!services) {
    into.services_whole = set.subkeys().size() == set.subkey_count();
    return;
  }
  const auto keys = services->subkeys();
  into.services_whole = keys.size() == services->subkey_count();
  for (const auto& key : keys) {
    Service service{.key = key.path(), .name = key.name()};
    service.type = key.number("Type");
    service.whole = key.values().size() == key.value_count();
    // What has no type is not a service, unless that cannot be read.
    if (!service.type && !service.whole) into.services_whole = false;
    service.start = key.number("Start");
    service.error_control = key.number("ErrorControl");
    service.image_path = key.find_text("ImagePath");
    service.group = key.find_text("Group");
    read_dependencies(key, service);
    into.services_by_name.emplace(lower(service.name), into.services.size());
    into.services.push_back(std::move(service));
  }
}

void add_filters(const Key& key, const FilterList& like, Configuration& into) {
  for (const auto* value : {"UpperFilters", "LowerFilters"}) {
    auto names = key.texts(value);
    if (names.empty()) continue;
    auto& list = into.filters.emplace_back(like);
    list.key = key.path();
    list.value = value;
    list.services = std::move(names);
  }
}

void read_device(const Key& device, const ClassNames& classes, Configuration& into) {
  into.has_devices = true;
  FilterList like{.of_device = true};
  if (const auto id = device.find_text("ClassGUID")) {
    like.class_id = lower(*id);
    if (const auto known = classes.find(*like.class_id); known != classes.end())
      like.class_name = known->second;
    into.used_classes.insert(*like.class_id);
  }
  add_filters(device, like, into);
  const auto service = device.text("Service");
  // Devices of the kernel's own name a driver object instead: "\Driver\ACPI_HAL".
  if (!service.empty() && !service.starts_with('\\') && into.services_whole &&
      !into.find_service(service))
    into.devices_without_service.push_back({device.path(), service});
}

void read_filters(const Key& set, Configuration& into) {
  ClassNames names;
  if (const auto classes = set.find("Control\\Class"))
    for (const auto& key : classes->subkeys()) {
      const FilterList like{.class_id = lower(key.name()), .class_name = key.find_text("Class")};
      names.emplace(*like.class_id, like.class_name);
      add_filters(key, like, into);
    }
  const auto enumerated = set.find("Enum");
  if (!enumerated) return;
  for (const auto& bus : enumerated->subkeys())
    for (const auto& device : bus.subkeys())
      for (const auto& instance : device.subkeys()) read_device(instance, names, into);
}

void read_known_dlls(const Key& set, KnownDlls& into) {
  const auto manager = set.find("Control\\Session Manager");
  if (!manager) return;
  into.excluded_key = manager->path();
  into.excluded = manager->texts("ExcludeFromKnownDlls");
  const auto key = manager->find("KnownDLLs");
  if (!key) return;
  into.key = key->path();
  for (const auto& value : key->values()) {
    if (is_same_name(value.name, "DllDirectory"))
      into.directory = value.is_text() ? std::optional{value.text()} : std::nullopt;
    else if (is_same_name(value.name, "DllDirectory32"))
      into.directory_32 = value.is_text() ? std::optional{value.text()} : std::nullopt;
    else if (auto dll = value.text();
             !dll.empty() && !lower(value.name).starts_with("dlldirectory"))  // of other machines
      into.entries.push_back({value.name, std::move(dll)});
  }
}

}  // namespace

std::optional<Key> read_system(const Hive& hive, Configuration& into) {
  const auto root = Key::read_root(hive, "SYSTEM");
  if (!root) return std::nullopt;
  into.has_system = true;
  // Windows 8 was the first with a database of drivers in the hive.
  into.before_windows_8 = !root->find("DriverDatabase");
  auto set = read_sets(*root, into.sets);
  if (!set) return std::nullopt;
  read_services(*set, into);
  u64 place = 0;
  if (const auto order = set->find("Control\\ServiceGroupOrder"))
    for (const auto& group : order->texts("List")) into.groups.emplace(lower(group), place++);
  read_filters(*set, into);
  read_known_dlls(*set, into.known_dlls);
  return set;
}

}  // namespace coldtrace::registry
