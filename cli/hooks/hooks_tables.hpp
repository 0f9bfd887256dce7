#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/images/identity.hpp"
#include "coldtrace/syscall-map/service_tables.hpp"
#include "coldtrace/syscall-map/services_tab.hpp"
#include "coldtrace/syscall-map/table_names.hpp"

namespace coldtrace::cli {

// A service table with the names of its entries.
struct NamedTable {
  syscall_map::LocatedServiceTable table;
  syscall_map::TableNames names;
  std::string user;  // path of the ntdll or win32u given for it; may be empty
};

// What `hooks tables` shows of one image.
struct TablesImage {
  std::string path;
  HashedIdentity identity;
  std::vector<NamedTable> tables;
  std::optional<syscall_map::ServicesTab> services_tab;
  core::Findings findings;
};

void write_tables_text(Output& output, const std::vector<TablesImage>& images);
void write_tables_csv(Output& output, const std::vector<TablesImage>& images);
void write_tables_json(Output& output, Int64 int64, const std::vector<TablesImage>& images);

}  // namespace coldtrace::cli
