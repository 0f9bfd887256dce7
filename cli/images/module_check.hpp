#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/images/identity.hpp"
#include "cli/images/symbol_file.hpp"
#include "coldtrace/pdb/address_owner.hpp"
#include "coldtrace/pdb/code_symbols.hpp"
#include "coldtrace/syscall-map/dump_check.hpp"

namespace coldtrace::cli {

// A module dumped from memory against its file: "pe compare" and "syscalls check --dump".
struct ModuleCheckOptions : PeOptions {
  std::string file;
  std::string dump;
  std::optional<u64> base;
  std::vector<pe::KnownModule> modules;
  std::vector<std::string> other_dumps;
  std::vector<std::string> pdbs;
};

// All options except the file and its dump: --base, --dump-layout, --known-module, --other-dump,
// --pdb, --no-hash.
void add_module_check_options(Command& command, ModuleCheckOptions& options);

// Another module in the same memory, which names what is in it.
struct OtherDump {
  PeInput input;
  std::string name;
  pe::CodeSymbols symbols;
  pe::ExportDirectory exports;  // empty if there is none
};

// What is shown.
struct ModuleCheck {
  ModuleCheck() = default;
  ModuleCheck(const ModuleCheck&) = delete;
  ModuleCheck& operator=(const ModuleCheck&) = delete;

  std::unique_ptr<PeInput> file;
  std::unique_ptr<core::LazyFile> bytes;
  HashedIdentity identity;
  std::vector<OtherDump> others;
  std::vector<pe::KnownModule> modules;  // including those of `others`
  std::unique_ptr<syscall_map::KernelView> view;
  std::unique_ptr<pe::CodeSymbols> symbols;
  std::optional<pe::ModuleDump> dump;
  std::vector<pe::OwningModule> owners;  // the module itself, the others, the known ones
  syscall_map::DumpCheck result;
  core::Findings findings;  // of file and dump together
};

void write_check_json(Output& output, const ModuleCheck& check, const ModuleCheckOptions& options);
void write_check_text(Output& output, const ModuleCheck& check, const ModuleCheckOptions& options);

// Compares and prints. With `needs_points`, an image without any place that a tracer uses is a
// warning.
Exit run_module_check(const ModuleCheckOptions& options, bool needs_points);

}  // namespace coldtrace::cli
