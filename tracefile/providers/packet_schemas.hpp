#pragma once

#include <memory>

#include "coldtrace/tracefile/fields/schema_source.hpp"

namespace coldtrace::tracefile {

// The events of packet captures, those of packet_event_table.inc.
std::shared_ptr<const SchemaSource> packet_schemas();

}  // namespace coldtrace::tracefile
