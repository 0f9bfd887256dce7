#pragma once

#include <optional>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/syscall-map/hook-profiles/hook_profile.hpp"
#include "coldtrace/syscall-map/hook-profiles/service_catalogue.hpp"

namespace coldtrace::syscall_map {

// What a profile makes of the services of a catalogue. Both outlive it.
class ProfileSelection {
 public:
  using Rule = HookProfile::Rule;

  [[nodiscard]] bool is_selected(u32 service) const { return selected_[service]; }

  // The rule that decides, the last that speaks of the service; where it is a group, then the one
  // that makes the service part of the group, and so on. Empty where no rule speaks of it.
  [[nodiscard]] std::vector<const Rule*> find_reason(u32 service) const;

  // Rules that speak of no service at all, in groups too, in the order of the text.
  [[nodiscard]] const std::vector<const Rule*>& unmatched() const { return unmatched_; }

 private:
  friend class ProfileSelector;

  bool speaks_of(const Rule& rule, u32 service) const;

  const HookProfile* profile_ = nullptr;
  const ServiceCatalogue* catalogue_ = nullptr;
  std::vector<bool> selected_;
  std::vector<std::optional<u32>> deciding_;  // of the profile's rules, for each service
  std::vector<std::vector<bool>> groups_;     // the services of each
  std::vector<const Rule*> unmatched_;
};

// Rules are read from the first to the last, and the last that speaks of a service decides. Nothing
// when that would take more than some seconds: names and globs that no people wrote.
[[nodiscard]] std::optional<ProfileSelection> select_services(
    core::Borrowed<HookProfile> profile, core::Borrowed<ServiceCatalogue> catalogue);

// Whether a rule of kind `services` speaks of the service.
[[nodiscard]] bool speaks_of(const ProfileRule& rule, const ListedService& service);

}  // namespace coldtrace::syscall_map
