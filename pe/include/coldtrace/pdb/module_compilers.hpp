#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "coldtrace/pdb/pdb.hpp"

namespace coldtrace::pe {

// The compiler of a module, S_COMPILE3 or S_COMPILE2, and how it was called, S_BUILDINFO. Source:
// microsoft-pdb, cvinfo.h, COMPILESYM3, COMPILESYM, CV_CFL_LANG and BUILDINFOSYM.
struct ModuleCompiler {
  u8 language = 0;
  std::array<u16, 4> front_end{}, back_end{};
  std::string version;              // its own name for itself; at most 1,024 bytes
  bool named = false;               // whether the module contains all this
  std::optional<u32> build_record;  // of the IPI stream, an LF_BUILDINFO
};

// "c", "c++", "masm", "link" and so on; "unknown".
[[nodiscard]] std::string_view language_name(u8 language);

// By the number of the module; those with neither are left out. What cannot be read is a finding,
// as for ModuleSymbols.
[[nodiscard]] std::map<std::size_t, ModuleCompiler> read_module_compilers(const Pdb& pdb,
                                                                          core::Findings& findings);

}  // namespace coldtrace::pe
