#pragma once

#include <span>
#include <string>
#include <vector>

#include "coldtrace/pdb/symbol_file.hpp"
#include "coldtrace/pe/identity.hpp"
#include "coldtrace/syscall-map/named_place.hpp"
#include "coldtrace/syscall-map/thread_offsets.hpp"

namespace coldtrace::syscall_map {

// What the PDB of a kernel gives to who looks into the kernel.
struct KernelSymbols {
  std::string path;  // empty: no PDB belongs to the kernel
  std::vector<NamedPlace> places;
  std::vector<KnownOffset> types;
  const pe::SymbolFile* file = nullptr;
};

// The public symbols that have an address.
std::vector<NamedPlace> to_places(const pe::SymbolFile& pdb);

// From the one that matches the image. That some were given and none matches is a finding.
KernelSymbols find_kernel_symbols(const pe::ImageTables& tables, const pe::Identity& identity,
                                  std::span<const pe::SymbolFile> files, core::Findings& findings);

}  // namespace coldtrace::syscall_map
