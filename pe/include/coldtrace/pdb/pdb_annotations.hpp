#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "coldtrace/pdb/pdb.hpp"

namespace coldtrace::pe {

// Calls `take` for the texts of each annotation that code has (__annotation of Microsoft's
// compilers, S_ANNOTATION), module by module; the views are valid during the call. What cannot be
// read of a module ends it with the finding `pdb-stream`.
// Sources: microsoft-pdb, cvinfo.h, ANNOTATIONSYM; LLVM, "The PDB DBI (Debug Info) Stream", module
// info, and "The Module Information Stream".
void visit_annotations(const Pdb& pdb, core::Findings& findings,
                       const std::function<void(std::span<const std::string_view>)>& take);

}  // namespace coldtrace::pe
