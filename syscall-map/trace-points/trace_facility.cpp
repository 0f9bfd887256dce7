#include "coldtrace/syscall-map/trace-points/trace_facility.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "coldtrace/pdb/pdb_names.hpp"
#include "coldtrace/pe/identity.hpp"
#include "coldtrace/pe/version_info.hpp"

namespace coldtrace::syscall_map {
namespace {

constexpr std::string_view setter = "KeSetTracepoint";
constexpr std::string_view receiver = "TraceInitSystem";

// Windows 10 1903, "19H1".
constexpr u16 first_build = 18362;

}  // namespace

std::string_view to_string(TraceFacilityState state) {
  switch (state) {
    case TraceFacilityState::unknown:
      return "unknown";
    case TraceFacilityState::present:
      return "present";
    case TraceFacilityState::absent:
      return "absent";
  }
  return "";
}

TraceFacility find_trace_facility(const pe::Image& image,
                                  const std::vector<SupportedInterface>& interfaces,
                                  const std::vector<NamedPlace>& symbols) {
  TraceFacility facility;
  const auto found = [&](std::string sentence) {
    facility.state = TraceFacilityState::present;
    facility.evidence.push_back(std::move(sentence));
  };
  for (const auto& interface : interfaces) {
    if (interface.name == setter && interface.exported)
      found(fmt::format("the kernel exports {}", setter));
    if (interface.name == receiver && interface.imported)
      found(fmt::format("the kernel imports {}, to which it would give {}", receiver, setter));
  }
  const bool named = std::any_of(symbols.begin(), symbols.end(), [](const NamedPlace& symbol) {
    return pe::is_decoration_of(symbol.name, setter);
  });
  if (named) found(fmt::format("the PDB names {}", setter));
  if (facility.state == TraceFacilityState::present) return facility;
  core::Findings ignored;  // what is odd about the version is told by "pe info"
  const auto info = pe::find_version_info(image, ignored);
  if (info && info->fixed && !pe::has_wine_marker(image)) {
    const auto& version = info->fixed->file;
    if (version < pe::VersionNumber{10, 0, first_build, 0}) {
      facility.state = TraceFacilityState::absent;
      facility.evidence.push_back(fmt::format("the kernel is of version {}, before 10.0.{}",
                                              pe::to_string(version), first_build));
      return facility;
    }
  }
  facility.evidence.push_back(
      fmt::format("the kernel neither exports {} nor imports {}", setter, receiver));
  if (!symbols.empty()) {
    facility.state = TraceFacilityState::absent;
    facility.evidence.push_back(fmt::format("its PDB does not name {}", setter));
  }
  return facility;
}

}  // namespace coldtrace::syscall_map
