#pragma once

#include <span>
#include <string>
#include <vector>

#include "coldtrace/pdb/symbol_file.hpp"
#include "coldtrace/pe/identity.hpp"
#include "coldtrace/syscall-map/named_place.hpp"
#include "coldtrace/syscall-map/thread_offsets.hpp"

namespace coldtrace::syscall_map {

// What the PDBs of a kernel, and symbol tables made of them, give to who looks into the kernel.
struct KernelSymbols {
  std::string path;  // of the first; empty: none belongs to the kernel
  std::vector<NamedPlace> places;
  std::vector<KnownOffset> types;
  std::vector<const pe::SymbolFile*> files;  // in the order in which they were given
};

// The public symbols that have an address.
[[nodiscard]] std::vector<NamedPlace> to_places(const pe::SymbolFile& pdb);

// From all that match the image; about what they disagree they say nothing, and the finding
// `pdb-contradiction` tells it. Those that lack section headers take the image's. That some were
// given and none matches is `pdb-mismatch`.
[[nodiscard]] KernelSymbols find_kernel_symbols(const pe::ImageTables& tables,
                                                const pe::Identity& identity,
                                                std::span<pe::SymbolFile> files,
                                                core::Findings& findings);

}  // namespace coldtrace::syscall_map
