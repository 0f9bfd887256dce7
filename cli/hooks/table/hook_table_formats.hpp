#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/hooks/table/hook_table_input.hpp"
#include "cli/output/json.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table.hpp"

namespace coldtrace::cli {

// The formats of `hooks table` and `hooks show`; docs/commands/hook-table.md describes them.
struct HookTableDocument {
  std::vector<syscall_map::HookTable> builds;
  std::vector<syscall_map::UnpairedFile> unpaired;
  core::Findings findings;  // of the pairing
};

void write_hook_table_text(Output& output, const HookTableDocument& document);
void write_hook_table_json(Output& output, Int64 int64, const HookTableDocument& document);
void write_hook_table_c_header(Output& output, const HookTableDocument& document);
// The members only.
void write_hook_table_csv(Output& output, const HookTableDocument& document);

// The binary table; throws Failure if the format cannot hold the builds.
void write_hook_table_binary(Output& output, std::span<const syscall_map::HookTable> builds,
                             bool evidence);
void write_hook_table_sqlite(Output& output, const HookTableDocument& document);

// Writes the requested format: "text", "json", "c-header", "csv", "hooktab" or "sqlite".
void write_hook_table(Output& output, const CommonOptions& options, bool evidence,
                      const HookTableDocument& document);

}  // namespace coldtrace::cli
