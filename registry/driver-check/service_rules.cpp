#include <fmt/format.h>

#include "coldtrace/registry/hive/key.hpp"
#include "registry/driver-check/rules.hpp"

namespace coldtrace::registry {
namespace {

using core::Severity;

// What comes of a driver or service that does not start. Source: MS Learn, "CreateServiceW",
// dwErrorControl.
std::string_view consequence(const Service& service) {
  if (service.start == Service::demand) return "it fails when something starts it";
  switch (service.error_control.value_or(1)) {
    case 0:
      return "it does not run, and no error is reported";
    case 2:
      return "Windows restarts with the last known good configuration, unless that is in use";
    case 3:
      return "Windows restarts with the last known good configuration, or fails to start if that "
             "is in use";
    default:
      return "it does not run, and the event log records an error";
  }
}

// Groups that drivers of Windows are in and ServiceGroupOrder is without: some are loaded by what
// they are, to the others it does not matter. Observed in hives of Windows 7 to 10.
bool is_group_of_windows(std::string_view group) {
  static const std::set<std::string> known{"core",
                                           "core platform extensions",
                                           "core security extensions",
                                           "early-launch",
                                           "network",
                                           "pnp filter"};
  return known.contains(lower(group));
}

class ServiceRules {
 public:
  ServiceRules(const Checked& checked, Problems& problems)
      : checked_{checked}, problems_{problems} {
    for (const auto& service : checked.configuration.services)
      if (service.is_service() && has_text(service.group)) groups_.insert(lower(*service.group));
  }

  void check(const Service& service) {
    if (!service.is_service()) return;
    check_start(service);
    check_file(service);
    if (service.is_disabled()) return;
    check_dependencies(service);
    check_groups(service);
    check_own_group(service);
  }

 private:
  void add(core::Name code, Severity severity, const Service& service, const char* value,
           std::optional<std::string> data, std::string text, std::string advice) {
    problems_.add(
        {code, severity, service.key, value, std::move(data), std::move(text), std::move(advice)});
  }

  // A service that starts by itself and cannot is damage; one that nobody may ever ask for is not.
  static Severity severity_of(const Service& service) {
    return service.starts_by_itself() ? Severity::warning : Severity::info;
  }

  void check_start(const Service& service) {
    if (service.start && *service.start > Service::disabled)
      add("service-start", Severity::warning, service, "Start", fmt::format("{}", *service.start),
          fmt::format("Start is {}, which is not one of 0 to 4", *service.start),
          "Set Start to the value from the driver's installation.");
    else if (!service.is_driver() && service.start && *service.start <= Service::system)
      add("service-start", Severity::warning, service, "Start", fmt::format("{}", *service.start),
          fmt::format("a program has Start {} ({}), which is only for drivers", *service.start,
                      start_name(service.start)),
          "Set Start to 2, or Type to what the driver is.");
  }

  void check_file(const Service& service) {
    const auto file = service.file(checked_.configuration.windows);
    if (!file || !checked_.lacks(*file)) return;
    add("service-file-missing", severity_of(service), service, "ImagePath", service.image_path,
        fmt::format("the file is missing: {}; {}", file->text(),
                    service.is_disabled() ? "it is disabled" : consequence(service)),
        "If the driver was uninstalled, remove this key after all filters, sessions and "
        "dependencies that name it; otherwise reinstall it.");
  }

  void check_dependency(const Service& service, const std::string& name) {
    const auto* other = checked_.configuration.find_service(name);
    const bool missing = checked_.configuration.lacks_service(name);
    if (!missing && !other) return;
    if (missing || other->is_disabled()) {
      add("service-dependency", severity_of(service), service, "DependOnService", name,
          fmt::format("it depends on the service {}, which is {}: {}", name,
                      missing ? "missing" : "disabled", consequence(service)),
          missing ? "Install what is missing, or remove the name from DependOnService."
                  : "Set Start of that service to the value from its installation.");
      return;
    }
    if (!service.is_driver() || !service.start || *service.start > Service::system) return;
    if (!other->start || *other->start > *service.start) {
      add("service-order", Severity::warning, service, "DependOnService", name,
          fmt::format("a {} driver depends on {}, which has Start {} and starts later: {}",
                      start_name(service.start), name, start_name(other->start),
                      consequence(service)),
          "Give both the same Start, and put the one that is needed into an earlier group.");
      return;
    }
    const auto own = place_of(service);
    const auto place = place_of(*other);
    if (other->start == service.start && own && place && *place > *own)
      add("service-order", Severity::warning, service, "Group", service.group,
          fmt::format(
              "it depends on {}, whose group {} comes after its own, {}, in ServiceGroupOrder: {}",
              name, *other->group, *service.group, consequence(service)),
          "Put it into a group that comes later, or the other one into an earlier one.");
  }

  void check_dependencies(const Service& service) {
    for (const auto& name : service.services) check_dependency(service, name);
  }

  void check_groups(const Service& service) {
    if (!checked_.configuration.services_whole) return;
    for (const auto& group : service.groups)
      if (!groups_.contains(lower(group)))
        add("service-dependency", severity_of(service), service, "DependOnGroup", group,
            fmt::format("it depends on the group {}, which has no services: {}", group,
                        consequence(service)),
            "Install what is missing, or remove the group from DependOnGroup.");
  }

  // Source: MS Learn, "Specifying Driver Load Order".
  void check_own_group(const Service& service) {
    if (!service.is_driver() || !service.start || *service.start > Service::system) return;
    if (!has_text(service.group) || checked_.configuration.groups.empty() || place_of(service))
      return;
    if (is_group_of_windows(*service.group)) return;
    add("service-group", Severity::info, service, "Group", service.group,
        fmt::format("a {} driver is in the group {}, which is not in ServiceGroupOrder: it is "
                    "loaded after the drivers of all groups",
                    start_name(service.start), *service.group),
        "If others need it earlier, put it into a group in ServiceGroupOrder.");
  }

  std::optional<u64> place_of(const Service& service) const {
    const auto& places = checked_.configuration.groups;
    const auto found = service.group ? places.find(lower(*service.group)) : places.end();
    if (found == places.end()) return std::nullopt;
    return found->second;
  }

  const Checked& checked_;
  Problems& problems_;
  std::set<std::string> groups_;  // that have members
};

}  // namespace

void check_services(const Checked& checked, Problems& problems) {
  ServiceRules rules{checked, problems};
  for (const auto& service : checked.configuration.services) rules.check(service);
}

}  // namespace coldtrace::registry
