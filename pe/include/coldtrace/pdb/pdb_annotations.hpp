#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "coldtrace/pdb/pdb.hpp"

namespace coldtrace::pe {

// An annotation in code (__annotation of Microsoft's compilers, S_ANNOTATION). Source:
// microsoft-pdb, cvinfo.h, ANNOTATIONSYM.
struct Annotation {
  std::span<const std::string_view> texts;  // one or more; arbitrary bytes of the file
  u16 section;
  u32 offset;
  std::string_view module;  // its PdbModule::name
};

// Calls `take` for each, module by module; the views are valid during the call. What cannot be read
// is a finding, as for ModuleSymbols.
void visit_annotations(const Pdb& pdb, core::Findings& findings,
                       const std::function<void(const Annotation&)>& take);

}  // namespace coldtrace::pe
