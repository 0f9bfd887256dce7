#include "cli/hooks/table/known_builds.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/hooks/signature_file.hpp"
#include "cli/images/identity.hpp"
#include "cli/images/image_roles.hpp"
#include "cli/images/symbol_file.hpp"
#include "coldtrace/pdb/symbol_machine.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table_encoder.hpp"

namespace coldtrace::cli {

void add_known_build_options(Command& command, KnownBuildOptions& options) {
  command
      .add_input("--derive-from", options.kernels,
                 "A kernel of another build, for members that nothing in this one reveals: their "
                 "offsets are inferred from instructions that are the same in both")
      .repeatable()
      .type_name("FILE");
  command
      .add_input("--derive-pdb", options.pdbs,
                 "PDB or symbol table of a kernel that --derive-from names")
      .repeatable()
      .type_name("FILE");
  command.add_input("--derive-signatures", options.signatures,
                    "Signatures of functions that both builds have, instead of the built-in ones");
}

KnownBuilds::KnownBuilds(const KnownBuildOptions& options, const PeOptions& images,
                         Report& report) {
  if (options.kernels.empty() != options.pdbs.empty())
    throw Failure{options.kernels.empty() ? "--derive-pdb needs --derive-from"
                                          : "--derive-from needs --derive-pdb"};
  if (options.kernels.empty() && !options.signatures.empty())
    throw Failure{"--derive-signatures needs --derive-from"};
  if (options.kernels.empty()) return;
  signatures_ = open_signatures(options.signatures);
  files_ = open_symbol_files(options.pdbs, report);
  std::vector<bool> used(files_.size());
  for (const auto& path : options.kernels) {
    std::string why;
    auto input = open_pe(path, images, why);
    if (!input) throw Failure{fmt::format("{}: {}", path, why)};
    auto& build = builds_.emplace_back(std::move(*input));
    const auto identity = identify(build.input, images).identity;
    require_role({path, identity}, syscall_map::ImageRole::kernel);
    core::Findings findings;
    build.symbols = syscall_map::find_kernel_symbols(build.view, identity, files_, findings);
    if (build.symbols.files.empty())
      throw Failure{fmt::format("{}: no --derive-pdb has its GUID, age and machine", path)};
    for (std::size_t i = 0; i < files_.size(); ++i)
      used[i] = used[i] || pe::belongs_to(files_[i], identity.pdb, identity.machine);
    findings.merge(build.input.findings());
    report.read(path, findings);
  }
  for (std::size_t i = 0; i < files_.size(); ++i)
    if (!used[i])
      throw Failure{
          fmt::format("{}: no --derive-from asks for it by GUID, age and machine", files_[i].path)};
}

void KnownBuilds::require_use(const std::vector<syscall_map::HookTable>& tables) const {
  for (const auto& build : builds_) {
    const auto machine = build.input.image.machine();
    const bool used = std::ranges::any_of(tables, [&](const syscall_map::HookTable& table) {
      return syscall_map::find_kernel(table)->identity.machine == machine;
    });
    if (!used)
      throw Failure{fmt::format("{}: for machine {}, but no kernel of the table is",
                                build.input.path, pe::to_string(machine))};
  }
}

std::vector<syscall_map::KnownBuild> KnownBuilds::builds() const {
  std::vector<syscall_map::KnownBuild> known;
  for (const auto& build : builds_)
    known.push_back({&build.view, build.input.path, build.symbols.places, build.symbols.files});
  return known;
}

}  // namespace coldtrace::cli
