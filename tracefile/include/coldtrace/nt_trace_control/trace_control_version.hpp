#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::tracefile {

// The versions of Windows whose kernels have NtTraceControl, in order: Vista, 7, 8, 8.1, 10.
enum class KernelVersion : u8 { v6_0, v6_1, v6_2, v6_3, v10_0 };

inline constexpr std::array kernel_versions{KernelVersion::v6_0, KernelVersion::v6_1,
                                            KernelVersion::v6_2, KernelVersion::v6_3,
                                            KernelVersion::v10_0};

[[nodiscard]] constexpr std::string_view to_string(KernelVersion version) {
  constexpr std::string_view names[] = {"6.0", "6.1", "6.2", "6.3", "10.0"};
  return names[static_cast<std::size_t>(version)];
}

// "10.0" and the like.
[[nodiscard]] constexpr std::optional<KernelVersion> find_kernel_version(std::string_view name) {
  for (const auto version : kernel_versions)
    if (to_string(version) == name) return version;
  return std::nullopt;
}

// From `first` to `last`, both inclusive.
struct KernelVersions {
  KernelVersion first = KernelVersion::v6_0;
  KernelVersion last = KernelVersion::v10_0;

  [[nodiscard]] constexpr bool contains(KernelVersion version) const {
    return version >= first && version <= last;
  }
};

}  // namespace coldtrace::tracefile
