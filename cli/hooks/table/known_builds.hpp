#pragma once

#include <deque>
#include <string>
#include <vector>

#include "cli/command/options.hpp"
#include "cli/images/pe_input.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table.hpp"
#include "coldtrace/syscall-map/kernel_symbols.hpp"
#include "coldtrace/syscall-map/member-derivation/member_derivation.hpp"

namespace coldtrace::cli {

// Builds with PDBs, for kernels without one.
struct KnownBuildOptions {
  std::vector<std::string> kernels;
  std::vector<std::string> pdbs;
  std::string signatures;  // empty: the built-in ones
};
void add_known_build_options(Command& command, KnownBuildOptions& options);

class KnownBuilds {
 public:
  // Throws Failure if a kernel cannot be used, or no PDB belongs to it.
  KnownBuilds(const KnownBuildOptions& options, const PeOptions& images, Report& report);

  // Views into this object.
  std::vector<syscall_map::KnownBuild> builds() const;
  std::span<const syscall_map::Signature> signatures() const { return signatures_; }

  // Throws Failure if a build is for another machine than all of `tables`.
  void require_use(const std::vector<syscall_map::HookTable>& tables) const;

 private:
  struct Build {
    PeInput input;
    syscall_map::KernelView view;
    syscall_map::KernelSymbols symbols;

    explicit Build(PeInput opened) : input{std::move(opened)}, view{input.image} {}
  };

  std::vector<pe::SymbolFile> files_;
  std::vector<syscall_map::Signature> signatures_;
  std::deque<Build> builds_;
};

}  // namespace coldtrace::cli
