#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "cli/output/json.hpp"
#include "cli/output/output.hpp"
#include "coldtrace/pdb/id_table.hpp"
#include "coldtrace/pdb/module_compilers.hpp"
#include "coldtrace/pdb/pdb_modules.hpp"
#include "coldtrace/pdb/section_contributions.hpp"
#include "coldtrace/pdb/symbol_file.hpp"

namespace coldtrace::cli {

// A line of "pe symbols --modules", and those below it.
struct ModuleRow {
  std::size_t index;
  std::string name;
  std::string object;
  u32 symbol_bytes;
  u16 source_files;
  std::optional<pe::ModuleCompiler> compiler;
  std::optional<pe::BuildInfo> build;
  std::vector<pe::SectionContribution> contributions;  // by section and offset
};

// The modules that have one of the names or match one of the globs, all where there are none, in
// the order of the file. What nothing has is the finding `no-match`.
std::vector<ModuleRow> choose_modules(const pe::SymbolFile& file,
                                      std::span<const std::string> names, core::Findings& findings);

inline constexpr std::string_view module_columns =
    "path,index,name,object,section,offset,rva,size,characteristics\n";

// The array; a line for each and its contributions; a row for each contribution, or one for a
// module without any.
void write_modules_json(JsonWriter& json, const pe::SymbolFile& file,
                        const std::vector<ModuleRow>& rows);
void write_modules_text(Output& output, const pe::SymbolFile& file,
                        const std::vector<ModuleRow>& rows);
void write_modules_csv(Output& output, const pe::SymbolFile& file,
                       const std::vector<ModuleRow>& rows);

}  // namespace coldtrace::cli
