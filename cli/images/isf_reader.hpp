#pragma once

#include <string>

#include "coldtrace/core/result.hpp"
#include "coldtrace/pdb/isf_table.hpp"

namespace coldtrace::cli {

// Reads the JSON of a Volatility 3 symbol table. Its texts are rewritten in place, and the result
// has views of them. Fails with a sentence if `json` is not JSON, is nested deeper than 64 levels,
// lacks one of the lists that each table has, or has more entries than IsfTable takes.
core::Expected<pe::IsfTable, std::string> read_isf(std::string& json);

}  // namespace coldtrace::cli
