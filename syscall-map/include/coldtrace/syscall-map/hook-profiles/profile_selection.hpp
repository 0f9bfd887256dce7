#pragma once

#include <optional>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/syscall-map/hook-profiles/hook_profile.hpp"
#include "coldtrace/syscall-map/hook-profiles/service_catalogue.hpp"

namespace coldtrace::syscall_map {

// The services of a catalogue that a profile selects. Both must outlive it.
class ProfileSelection {
 public:
  using Rule = HookProfile::Rule;

  [[nodiscard]] bool is_selected(u32 service) const { return selected_[service]; }

  // The rule that decides, which is the last that applies to the service; if it is a group, then
  // the one that makes the service part of the group, and so on. Empty if no rule applies to it.
  [[nodiscard]] std::vector<const Rule*> find_reason(u32 service) const;

  // Rules that apply to no service at all, including those in groups, in text order.
  [[nodiscard]] const std::vector<const Rule*>& unmatched() const { return unmatched_; }

 private:
  friend class ProfileSelector;

  bool speaks_of(const Rule& rule, u32 service) const;

  const HookProfile* profile_ = nullptr;
  const ServiceCatalogue* catalogue_ = nullptr;
  std::vector<bool> selected_;
  std::vector<std::optional<u32>> deciding_;  // index of the profile's rule, for each service
  std::vector<std::vector<bool>> groups_;     // the services of each
  std::vector<const Rule*> unmatched_;
};

// Rules are read from the first to the last, and the last that applies to a service decides.
// Nothing if that would take more than some seconds, which names and globs written by people never
// do.
[[nodiscard]] std::optional<ProfileSelection> select_services(
    core::Borrowed<HookProfile> profile, core::Borrowed<ServiceCatalogue> catalogue);

// Whether a rule of kind `services` applies to the service.
[[nodiscard]] bool speaks_of(const ProfileRule& rule, const ListedService& service);

}  // namespace coldtrace::syscall_map
