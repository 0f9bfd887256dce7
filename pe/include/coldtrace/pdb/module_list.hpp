#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "coldtrace/pdb/id_table.hpp"
#include "coldtrace/pdb/module_compilers.hpp"
#include "coldtrace/pdb/section_contributions.hpp"
#include "coldtrace/pdb/symbol_file.hpp"

namespace coldtrace::pe {

// A linked object file, how it was compiled, and which bytes of the image come from it.
struct ListedModule {
  std::size_t index;
  std::string name;
  std::string object;
  u32 symbol_bytes;  // 0: it has no stream
  u16 source_files;
  std::optional<ModuleCompiler> compiler;
  std::optional<BuildInfo> build;
  std::vector<SectionContribution> contributions;  // by section and offset
};

// The modules that have one of the names or match one of the globs, or all if there are none, in
// the order of the file. A name or glob that matches nothing is the finding `no-match`;
// contributions of modules that are not listed are `pdb-stream`, and texts that are together longer
// than the file justifies are `symbol-limit`.
[[nodiscard]] std::vector<ListedModule> list_modules(const SymbolFile& file,
                                                     std::span<const std::string> names,
                                                     core::Findings& findings);

}  // namespace coldtrace::pe
