#pragma once

#include "cli/output/json.hpp"
#include "coldtrace/syscall-map/context_switch.hpp"
#include "coldtrace/syscall-map/supported_interfaces.hpp"
#include "coldtrace/syscall-map/thread_offsets.hpp"

namespace coldtrace::cli {

// JSON values that several hooks commands write; docs/commands/context-switch.md describes them.
// Findings are not among them.

// [{"name","purpose","exported",...}]
void write_supported_interfaces(JsonWriter& json,
                                const std::vector<syscall_map::SupportedInterface>& interfaces);

// The members "context_switch", "thread_offsets" and "supported_interfaces" of an object.
void write_thread_switching(JsonWriter& json, const syscall_map::ContextSwitchSearch& search,
                            const syscall_map::ThreadOffsets& offsets,
                            const std::vector<syscall_map::SupportedInterface>& interfaces);

}  // namespace coldtrace::cli
