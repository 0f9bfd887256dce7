#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/core/findings.hpp"
#include "coldtrace/syscall-map/hook-profiles/profile_selection.hpp"

namespace coldtrace::syscall_map {

// Services that were called, as profiles know them: each from a table, from a virtual device
// driver, or from the image that contains the routine. Each function returns the index in
// `catalogue`, which several called services may share. One without a name belongs to all services
// of its module.
[[nodiscard]] u32 add_system_call(ServiceCatalogue& catalogue, u16 number, std::string_view name);
// Called by a hash of its name.
[[nodiscard]] u32 add_hashed_call(ServiceCatalogue& catalogue, std::string_view name);
// "VMM:Get_VMM_Version", as VxDMon writes it. Nothing if the text names no device.
[[nodiscard]] std::optional<u32> add_vxd_service(ServiceCatalogue& catalogue,
                                                 std::string_view name);
// A routine in the image at `path`.
[[nodiscard]] u32 add_routine(ServiceCatalogue& catalogue, std::string_view path,
                              std::string_view name);

// The services of a catalogue that at least one of several profiles selects. The catalogue must
// outlive it.
class ServiceChoice {
 public:
  explicit ServiceChoice(core::Borrowed<ServiceCatalogue> catalogue)
      : catalogue_{catalogue.get()}, chosen_(catalogue.get().services().size()) {}

  // Adds what the profile selects. Nothing, and nothing is chosen, if that would take more than
  // some seconds (select_services).
  [[nodiscard]] std::optional<ProfileSelection> add(const HookProfile& profile);

  [[nodiscard]] bool is_chosen(u32 service) const { return chosen_[service]; }

  // Which of the places to which services were added are chosen. If none is, that is the finding
  // `profile-empty`; if not all are, `services-left-out`.
  [[nodiscard]] std::vector<bool> choose(const std::vector<u32>& places,
                                         core::Findings& findings) const;

 private:
  const ServiceCatalogue& catalogue_;
  std::vector<bool> chosen_;
};

// Keeps only the chosen services of the build; if not all are chosen, that is the finding
// `services-left-out`. `places` are those to which they were added, `profiles` made the choice.
void keep_chosen_services(HookTable& build, const ServiceChoice& choice,
                          std::span<const u32> places, const std::vector<std::string>& profiles);

}  // namespace coldtrace::syscall_map
