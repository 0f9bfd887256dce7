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

// Services that were called, as profiles know them: each of a table, of a virtual device driver, or
// of the image that has the routine. Each function gives the place in `catalogue`, which several
// that were called may share. One without a name is part of all the services of its module.
[[nodiscard]] u32 add_system_call(ServiceCatalogue& catalogue, u16 number, std::string_view name);
// Called by a hash of its name.
[[nodiscard]] u32 add_hashed_call(ServiceCatalogue& catalogue, std::string_view name);
// "VMM:Get_VMM_Version", as VxDMon writes it. Nothing where the text names no device.
[[nodiscard]] std::optional<u32> add_vxd_service(ServiceCatalogue& catalogue,
                                                 std::string_view name);
// A routine in the image at `path`.
[[nodiscard]] u32 add_routine(ServiceCatalogue& catalogue, std::string_view path,
                              std::string_view name);

// The services of a catalogue that one of some profiles selects. The catalogue must outlive it.
class ServiceChoice {
 public:
  explicit ServiceChoice(core::Borrowed<ServiceCatalogue> catalogue)
      : catalogue_{catalogue.get()}, chosen_(catalogue.get().services().size()) {}

  // What the profile selects, too. Nothing, and nothing is chosen, where that would take more than
  // some seconds (select_services).
  [[nodiscard]] std::optional<ProfileSelection> add(const HookProfile& profile);

  [[nodiscard]] bool is_chosen(u32 service) const { return chosen_[service]; }

  // Of the places that services were added to, which are chosen; that none is, is the finding
  // `profile-empty`, that not all are, `services-left-out`.
  [[nodiscard]] std::vector<bool> choose(const std::vector<u32>& places,
                                         core::Findings& findings) const;

 private:
  const ServiceCatalogue& catalogue_;
  std::vector<bool> chosen_;
};

// Keeps the services of the build that are chosen; that not all are, is the finding
// `services-left-out`. `places` are those that they were added to, `profiles` what chose.
void keep_chosen_services(HookTable& build, const ServiceChoice& choice,
                          std::span<const u32> places, const std::vector<std::string>& profiles);

}  // namespace coldtrace::syscall_map
