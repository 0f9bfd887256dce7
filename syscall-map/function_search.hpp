#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/findings.hpp"
#include "pe/image.hpp"
#include "syscall-map/function_places.hpp"
#include "syscall-map/hook_table.hpp"
#include "syscall-map/signature_locator.hpp"

namespace coldtrace::syscall_map {

// Where the public symbol of a PDB that belongs to the image says that the function is.
struct SymbolPlace {
  std::string name;  // as in the PDB, decorated
  pe::Rva rva;
};

// What is known beside the image.
struct FunctionSources {
  std::span<const Signature> signatures;
  std::optional<SymbolPlace> symbol;
  const std::vector<HookService>& services;
};

// A place that one source or more have the function at.
struct FunctionLocation {
  pe::Rva rva{};
  std::optional<u64> file_offset;
  u64 address = 0;                     // at the preferred base
  bool chosen = false;                 // it is one of the first source's
  std::vector<FunctionPlace> sources;  // in the order in which they count
  std::vector<SignatureMatch> matches;
  std::string symbol;  // its name; empty: no PDB was given, or it names another place

  bool verified() const;
  // A symbol names it, and a signature found it too.
  bool confirmed() const { return !symbol.empty() && !matches.empty(); }
};

struct FunctionSearch {
  std::vector<FunctionLocation> locations;  // ascending
  u64 tried = 0;  // signatures of the function that are for this machine and version
  core::Findings findings;
};

// Looks for `function` in the export directory, the service table, the PDB, by signatures and, for
// a context switch, by structure. The first of these that has it says where it is; that another
// one has it elsewhere, that the first has it at several places, and that none has it, are
// findings.
FunctionSearch find_function(const pe::Image& image, std::string_view function,
                             const FunctionSources& sources);

}  // namespace coldtrace::syscall_map
