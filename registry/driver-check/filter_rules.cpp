#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "registry/driver-check/rules.hpp"

namespace coldtrace::registry {
namespace {

using core::Severity;

// Classes whose devices the machine needs to start.
// Source: MS Learn, "System-Defined Device Setup Classes Available to Vendors".
constexpr std::array boot_classes = {
    "{4d36e967-e325-11ce-bfc1-08002be10318}",  // DiskDrive
    "{71a27cdd-812a-11d0-bec7-08002be2092f}",  // Volume
    "{4d36e97b-e325-11ce-bfc1-08002be10318}",  // SCSIAdapter
    "{4d36e96a-e325-11ce-bfc1-08002be10318}",  // HDC
    "{4d36e97d-e325-11ce-bfc1-08002be10318}",  // System
};
constexpr std::array input_classes = {
    "{4d36e96b-e325-11ce-bfc1-08002be10318}",  // Keyboard
    "{4d36e96f-e325-11ce-bfc1-08002be10318}",  // Mouse
};

template <std::size_t Count>
bool is_one_of(const std::optional<std::string>& id,
               const std::array<const char*, Count>& classes) {
  return id && std::find(classes.begin(), classes.end(), *id) != classes.end();
}

bool is_boot_class(const FilterList& list) {
  return is_one_of(list.class_id, boot_classes);
}

// What comes of a filter that cannot be loaded.
std::string consequence(const FilterList& list) {
  if (is_boot_class(list))
    return list.of_device ? "this device does not start; if Windows boots through it, the machine "
                            "does not boot (stop 0x7B)"
                          : "the machine will not boot (stop 0x7B, INACCESSIBLE_BOOT_DEVICE)";
  if (is_one_of(list.class_id, input_classes) && !list.of_device)
    return "no keyboard or mouse will work";
  return list.of_device ? "the device does not start (code 19, 32, 37 or 39 of Device Manager)"
                        : "no device of the class starts (code 19, 32, 37 or 39 of Device Manager)";
}

class FilterRules {
 public:
  FilterRules(const Checked& checked, Problems& problems)
      : checked_{checked}, problems_{problems} {}

  void check(const FilterList& list) {
    for (const auto& name : list.services) check(list, name);
  }

 private:
  // Of a class that no device has, nothing fails.
  bool is_used(const FilterList& list) const {
    const auto& configuration = checked_.configuration;
    return list.of_device || !configuration.has_devices || is_boot_class(list) ||
           (list.class_id && configuration.used_classes.contains(*list.class_id));
  }

  void add(core::Name code, const FilterList& list, const std::string& name, const std::string& why,
           std::string advice) {
    const bool used = is_used(list);
    problems_.add(
        {code, used ? Severity::warning : Severity::info, list.key, list.value, name,
         fmt::format("{}: {}", why,
                     used ? consequence(list) : "no device has the class, so nothing fails yet"),
         std::move(advice)});
  }

  void check(const FilterList& list, const std::string& name) {
    const auto removal = fmt::format("Remove {} and nothing else from {}, or reinstall the driver.",
                                     name, list.value);
    const auto* service = checked_.configuration.find_service(name);
    if (checked_.configuration.lacks_service(name))
      return add("filter-service-missing", list, name, fmt::format("there is no service {}", name),
                 removal);
    if (!service) return;
    if (service->is_disabled())
      return add(
          "filter-service-disabled", list, name, fmt::format("the service {} is disabled", name),
          fmt::format(
              "Remove {} from {}, or set Start of the service to the value from its installation.",
              name, list.value));
    const auto file = service->file(checked_.configuration.windows);
    if (file && checked_.lacks(*file))
      add("filter-file-missing", list, name,
          fmt::format("the file of the service {} is missing: {}", name, file->text()), removal);
    // Source: MS Learn, "Specifying Driver Load Order": filters of devices that are needed to start
    // the machine are boot drivers themselves.
    if (is_boot_class(list) && !list.of_device && list.class_id != boot_classes.back() &&
        service->start != Service::boot && (service->start || service->whole))
      problems_.add(
          {"filter-start", Severity::warning, list.key, list.value, name,
           fmt::format("the service {} has {}, but filters devices that start with the boot "
                       "drivers: it is not loaded when they start",
                       name,
                       service->start ? fmt::format("Start {} ({})", *service->start,
                                                    start_name(service->start))
                                      : "no readable Start"),
           "Set Start of the service to 0 if the driver supports that, or remove the filter."});
  }

  const Checked& checked_;
  Problems& problems_;
};

}  // namespace

void check_filters(const Checked& checked, Problems& problems) {
  FilterRules rules{checked, problems};
  for (const auto& list : checked.configuration.filters) rules.check(list);
}

void check_devices(const Checked& checked, Problems& problems) {
  for (const auto& device : checked.configuration.devices_without_service)
    problems.add(
        {"device-service-missing", Severity::info, device.key, "Service", device.service,
         fmt::format("there is no service {}: a driver was removed, but its device was not",
                     device.service),
         "Remove the device with pnputil /remove-device or Device Manager (show hidden devices)."});
}

}  // namespace coldtrace::registry
