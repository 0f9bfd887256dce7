#pragma once

#include "coldtrace/registry/driver-check/configuration.hpp"
#include "coldtrace/registry/hive/key.hpp"

namespace coldtrace::registry {

// SYSTEM but for its traces: control sets, services, filters, KnownDLLs. The key of the control set
// that is read, if there is one.
std::optional<Key> read_system(const Hive& hive, Configuration& into);

}  // namespace coldtrace::registry
