#pragma once

#include <span>
#include <string>
#include <vector>

#include "coldtrace/pdb/symbol_file.hpp"
#include "coldtrace/pe/identity.hpp"
#include "coldtrace/syscall-map/named_place.hpp"
#include "coldtrace/syscall-map/thread_offsets.hpp"

namespace coldtrace::syscall_map {

// Data from the PDBs of a kernel, and from symbol tables made from them.
struct KernelSymbols {
  std::string path;  // of the first; empty if none belongs to the kernel
  std::vector<NamedPlace> places;
  std::vector<KnownOffset> types;
  std::vector<const pe::SymbolFile*> files;  // in the order in which they were given
};

// The public symbols that have an address.
[[nodiscard]] std::vector<NamedPlace> to_places(const pe::SymbolFile& pdb);

// From all that match the image. Where they disagree, they give nothing, which the finding
// `pdb-contradiction` reports. Those without section headers use the image's. If some were given
// and none matches, that is `pdb-mismatch`.
[[nodiscard]] KernelSymbols find_kernel_symbols(const pe::ImageTables& tables,
                                                const pe::Identity& identity,
                                                std::span<pe::SymbolFile> files,
                                                core::Findings& findings);

}  // namespace coldtrace::syscall_map
