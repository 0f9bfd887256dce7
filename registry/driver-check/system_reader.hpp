#pragma once

#include "coldtrace/registry/driver-check/configuration.hpp"
#include "coldtrace/registry/hive/key.hpp"

namespace coldtrace::registry {

// Reads SYSTEM except for its traces: control sets, services, filters, KnownDLLs. Returns the key
// of the control set in use, if there is one.
std::optional<Key> read_system(const Hive& hive, Configuration& into);

}  // namespace coldtrace::registry
