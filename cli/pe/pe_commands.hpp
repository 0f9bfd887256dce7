#pragma once

#include "cli/command/command.hpp"

namespace coldtrace::cli {

void add_pe_info(CLI::App& app, Exit& exit);
void add_pe_exports(CLI::App& app, Exit& exit);
void add_pe_imports(CLI::App& app, Exit& exit);
void add_pe_sections(CLI::App& app, Exit& exit);
void add_pe_compare(CLI::App& app, Exit& exit);
void add_pe_symbols(CLI::App& app, Exit& exit);
void add_pe_isf(CLI::App& app, Exit& exit);
void add_pe_types(CLI::App& app, Exit& exit);

}  // namespace coldtrace::cli
