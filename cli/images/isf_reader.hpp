#pragma once

#include <string>

#include "coldtrace/core/result.hpp"
#include "coldtrace/pdb/isf_table.hpp"

namespace coldtrace::cli {

// Reads the JSON of a symbol table of Volatility 3. Its texts are rewritten in place, and what is
// returned has views of them. Fails with a sentence where `json` is not JSON, is nested deeper than
// 64 levels, lacks one of the lists that each table has, or has more entries than IsfTable takes.
core::Expected<pe::IsfTable, std::string> read_isf(std::string& json);

}  // namespace coldtrace::cli
