#pragma once

#include <string>
#include <vector>

#include "cli/output/json.hpp"
#include "coldtrace/syscall-map/service_tables.hpp"
#include "coldtrace/syscall-map/services_tab.hpp"

namespace coldtrace::cli {

// JSON values common to `hooks tables` and `hooks table`; docs/commands/service-tables.md describes
// them.

void write_evidence(JsonWriter& json, const std::vector<std::string>& evidence);

// The fields of a table's object from "name" to "evidence"; the object stays open.
void write_service_table_fields(JsonWriter& json, const syscall_map::LocatedServiceTable& table);

// The fields of an entry's object from "number" to "import_name"; the object stays open.
void write_table_entry_fields(JsonWriter& json, const syscall_map::LocatedServiceTable& table,
                              std::size_t index);

void write_services_tab(JsonWriter& json, const syscall_map::ServicesTab& tab);

// The number of the service at `index` of a table.
u64 service_number(const syscall_map::LocatedServiceTable& table, std::size_t index);

}  // namespace coldtrace::cli
