#pragma once

#include <functional>
#include <string_view>

#include "coldtrace/core/guid.hpp"
#include "coldtrace/registry/driver-check/configuration.hpp"
#include "coldtrace/registry/hive/hive.hpp"

namespace coldtrace::registry {

// Which hive of Windows a file is.
enum class HiveKind : u8 { system, software, other };

// Told by its keys: its file may have any name.
[[nodiscard]] HiveKind kind_of(const Hive& hive);

// The name of a provider that is known without a hive; empty for others.
using ProviderName = std::function<std::string_view(const core::Guid&)>;

// Either hive may be absent. Damage is a finding of the hive; a missing control set is left to the
// rules.
[[nodiscard]] Configuration read_configuration(const Hive* system, const Hive* software,
                                               const ProviderName& name_of);

}  // namespace coldtrace::registry
