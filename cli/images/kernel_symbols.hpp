#pragma once

#include <string>
#include <vector>

#include "cli/images/symbol_file.hpp"
#include "coldtrace/pe/identity.hpp"
#include "coldtrace/syscall-map/context_switch.hpp"
#include "coldtrace/syscall-map/thread_offsets.hpp"

namespace coldtrace::cli {

// What the PDB of a kernel gives to who looks into the kernel.
struct KernelSymbols {
  std::string path;  // empty: no PDB belongs to the kernel
  std::vector<syscall_map::NamedPlace> places;
  std::vector<syscall_map::KnownOffset> types;
};

// The public symbols that have an address.
std::vector<syscall_map::NamedPlace> to_places(const SymbolFile& pdb);

// The PDBs that can be read.
std::vector<SymbolFile> open_symbol_files(const std::vector<std::string>& paths, Report& report);

// From the one that matches the image. That some were given and none matches is a finding.
KernelSymbols symbols_of(const pe::Image& image, const pe::Identity& identity,
                         const std::vector<SymbolFile>& files, core::Findings& findings);

}  // namespace coldtrace::cli
