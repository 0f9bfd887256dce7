#pragma once

#include <string_view>
#include <vector>

#include "cli/output/json.hpp"
#include "cli/output/output.hpp"
#include "coldtrace/pdb/module_list.hpp"

namespace coldtrace::cli {

inline constexpr std::string_view module_columns =
    "path,index,name,object,section,offset,rva,size,characteristics\n";

// The array in JSON; in text a line for each module and its contributions; in CSV a row for each
// contribution, or one for a module without any.
void write_modules_json(JsonWriter& json, const pe::SymbolFile& file,
                        const std::vector<pe::ListedModule>& modules);
void write_modules_text(Output& output, const pe::SymbolFile& file,
                        const std::vector<pe::ListedModule>& modules);
void write_modules_csv(Output& output, const pe::SymbolFile& file,
                       const std::vector<pe::ListedModule>& modules);

}  // namespace coldtrace::cli
