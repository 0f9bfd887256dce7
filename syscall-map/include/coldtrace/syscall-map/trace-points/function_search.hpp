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

// What is known beside the image.
struct FunctionSources {
  core::BorrowedSpan<Signature> signatures;
  std::vector<NamedPlace> symbols;  // of the PDB that belongs to the image, decorated
  const std::vector<HookService>& services;
};

// A place that one source or more have a function at.
struct FunctionLocation {
  std::string function;
  pe::Rva rva{};
  std::optional<u64> file_offset;
  u64 address = 0;                     // at the preferred base
  bool chosen = false;                 // it is one of the first source's
  std::vector<FunctionPlace> sources;  // in the order in which they count
  std::vector<SignatureMatch> matches;
  std::string symbol;  // its name; empty: no PDB was given, or it names another place

  [[nodiscard]] bool verified() const;
  // A symbol names it, and a signature found it too.
  [[nodiscard]] bool confirmed() const { return !symbol.empty() && !matches.empty(); }
};

// Where functions of an image may lie.
struct FunctionSearch {
  std::vector<FunctionLocation> locations;  // ascending
  u64 tried = 0;  // signatures of the functions that are for this machine and version
  core::Findings findings;
};

// Looks for the function that `wanted` names, or for all that it means as a glob, in the export
// directory, the service table, the PDB, by signatures and, for a context switch, by structure. The
// first of these that has one says where it is; that another one has it elsewhere, that the first
// has it at several places, and that nothing has the name or matches the glob, are findings.
[[nodiscard]] FunctionSearch find_functions(const pe::ImageTables& tables, std::string_view wanted,
                                            const FunctionSources& sources);

}  // namespace coldtrace::syscall_map
