#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/image.hpp"
#include "coldtrace/syscall-map/context_switch.hpp"
#include "coldtrace/syscall-map/hook_service.hpp"
#include "coldtrace/syscall-map/signatures/signature_locator.hpp"
#include "coldtrace/syscall-map/trace-points/function_places.hpp"

namespace coldtrace::syscall_map {

// Inputs in addition to the image.
struct FunctionSources {
  core::BorrowedSpan<Signature> signatures;
  std::vector<NamedPlace> symbols;  // from the PDB that belongs to the image, decorated
  core::Borrowed<std::vector<HookService>> services;
};

// A place where at least one source has a function.
struct FunctionLocation {
  std::string function;
  pe::Rva rva{};
  std::optional<u64> file_offset;
  u64 address = 0;                     // at the preferred base
  bool chosen = false;                 // whether it is one of the first source's
  std::vector<FunctionPlace> sources;  // in order of precedence
  std::vector<SignatureMatch> matches;
  std::string symbol;  // its name; empty: no PDB was given, or it does not name this place

  [[nodiscard]] bool verified() const;
  // Whether a symbol names it and a signature found it too.
  [[nodiscard]] bool confirmed() const { return !symbol.empty() && !matches.empty(); }
};

// The places of functions in an image.
struct FunctionSearch {
  std::vector<FunctionLocation> locations;  // ascending
  u64 tried = 0;  // signatures of the functions that are for this machine and version
  core::Findings findings;
};

// Looks for the function that `wanted` names, or for all that match it as a glob, in the export
// directory, the service table, the PDB, by signatures and, for a context switch, by structure. The
// first of these that has one gives its place. Findings report that another source has it
// elsewhere, that the first has it at several places, and that nothing has the name or matches the
// glob.
[[nodiscard]] FunctionSearch find_functions(const pe::ImageTables& tables, std::string_view wanted,
                                            const FunctionSources& sources);

}  // namespace coldtrace::syscall_map
