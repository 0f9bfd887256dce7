#pragma once

#include <functional>
#include <string_view>

#include "coldtrace/core/guid.hpp"
#include "coldtrace/registry/driver-check/configuration.hpp"
#include "coldtrace/registry/hive/hive.hpp"

namespace coldtrace::registry {

// Which hive of Windows it is.
enum class HiveKind : u8 { system, software, other };

// By its keys: its file may have any name.
[[nodiscard]] HiveKind kind_of(const Hive& hive);

// Names of providers that are known without a hive; empty for others.
using ProviderName = std::function<std::string_view(const core::Guid&)>;

// Either hive may be absent. What is damaged is a finding of the hive; a control set that is not
// there is for the rules to tell.
[[nodiscard]] Configuration read_configuration(const Hive* system, const Hive* software,
                                               const ProviderName& name_of);

}  // namespace coldtrace::registry
