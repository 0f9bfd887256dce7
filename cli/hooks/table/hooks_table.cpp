#include <algorithm>
#include <memory>

#include <CLI/Error.hpp>
#include <fmt/format.h>

#include "cli/command/common_options.hpp"
#include "cli/command/each_file.hpp"
#include "cli/hooks/hooks_commands.hpp"
#include "cli/hooks/member_lists.hpp"
#include "cli/hooks/table/build_files.hpp"
#include "cli/hooks/table/hook_table_formats.hpp"
#include "cli/hooks/table/hook_table_services.hpp"
#include "cli/images/symbol_option.hpp"
#include "cli/output/terminal_progress.hpp"
#include "cli/sandbox/sandbox.hpp"
#include "cli/sqlite/sqlite_file.hpp"

namespace coldtrace::cli {
namespace {

using syscall_map::ImageRole;

struct HooksTableOptions : PeOptions {
  std::string kernel;
  std::string ntdll;
  std::string win32u;
  std::vector<std::string> win32k;
  std::vector<std::string> pdbs;
  std::vector<std::string> folders;
  std::vector<std::string> profiles;
  std::vector<std::string> members;
  KnownBuildOptions known;
  bool no_evidence = false;
};

// The build that the options name file by file.
syscall_map::BuildFiles named_files(const HooksTableOptions& options) {
  syscall_map::BuildFiles files{{ImageRole::kernel, options.kernel, {}, {}}};
  if (!options.ntdll.empty()) files.push_back({ImageRole::ntdll, options.ntdll, {}, {}});
  if (!options.win32u.empty()) files.push_back({ImageRole::win32u, options.win32u, {}, {}});
  for (const auto& path : options.win32k) {
    std::optional<std::string> unreadable;  // told when the file is read for its table
    const auto file = read_build_file(path, options.layout, unreadable);
    const bool known = file && file->role >= ImageRole::win32k;
    const auto role = known ? file->role : ImageRole::win32k;
    const auto other = std::find_if(
        files.begin(), files.end(),
        [&](const syscall_map::HookTableImage& earlier) { return earlier.role == role; });
    if (other != files.end())
      throw Failure{
          fmt::format("{}: {} was already given: {}", path, to_string(role), other->path)};
    files.push_back({role, path, {}, {}});
  }
  return files;
}

u64 size_of_build(const syscall_map::BuildFiles& files) {
  u64 size = 0;
  for (const auto& file : files) size += size_of_file(file.path);
  return size;
}

Exit run_hooks_table(const HooksTableOptions& options) {
  if (options.kernel.empty() == options.folders.empty())
    throw CLI::RequiredError{"either --kernel FILE or --dir DIR"};
  if (options.format == "csv" && options.members.empty())
    throw Failure{"--format csv lists the values of member lists: give --members"};
  if (!options.known.kernels.empty() && options.members.empty())
    throw Failure{"--derive-from is for the values of member lists: give --members"};
  const auto members = read_member_lists(options.members);
  const auto profiles = open_profiles(options.profiles, options);
  Output output{options.output};
  Report report{options.findings};
  TerminalProgress progress{options.output, options.findings.quiet};
  syscall_map::PairedBuilds paired;
  if (options.folders.empty()) {
    paired.builds.push_back(named_files(options));
  } else {
    core::Findings of_folders;
    paired = syscall_map::pair_builds(
        find_build_files(options.folders, options.layout, report, of_folders, progress),
        image_contents(options.layout));
    paired.findings.merge(of_folders);
    if (paired.builds.empty()) {
      report.tell(options.folders.front(), paired.findings);
      throw Failure{
          fmt::format("{}: no kernel is in it or below it", fmt::join(options.folders, ", "))};
    }
    report.read(options.folders.front(), paired.findings);
  }
  auto symbols = open_symbol_files(options.pdbs, report);
  const KnownBuilds known{options.known, options, report};
  HookTableDocument document;
  document.unpaired = std::move(paired.unpaired);
  document.findings = std::move(paired.findings);
  u64 bytes = 0;
  for (const auto& files : paired.builds) bytes += size_of_build(files);
  progress.begin("making tables", "builds", bytes);
  for (const auto& files : paired.builds) {
    if (auto table = make_hook_table(files, options, symbols, report, {}, members, &known))
      document.builds.push_back(std::move(*table));
    progress.add(size_of_build(files), 1);
  }
  if (document.builds.empty()) return Exit::failure;
  known.require_use(document.builds);
  if (!profiles.empty())
    for (const auto& [path, findings] : keep_selected_services(profiles, document.builds)) {
      report.read(path, findings);
      document.findings.merge(findings);
    }
  core::Findings unused;
  syscall_map::note_unused_symbols(symbols, document.builds, unused);
  report.read("--pdb", unused);
  document.findings.merge(unused);
  for (const auto& build : document.builds) tell_hook_table(build, report);
  write_hook_table(output, options, !options.no_evidence, document);
  output.commit();
  return report.exit();
}

void add_inputs(Command& command, HooksTableOptions& options) {
  command.add_input("--kernel", options.kernel, "The kernel: ntoskrnl.exe");
  command.add_input("--ntdll", options.ntdll, "ntdll.dll, whose exports name services");
  command.add_input("--win32u", options.win32u,
                    "win32u.dll, whose exports name services of win32k");
  command.add_input("--win32k", options.win32k, "win32k.sys, win32kbase.sys, win32kfull.sys");
  command.add_input("--dir", options.folders, "All builds whose files are in this folder or below")
      .repeatable()
      .type_name("DIR");
  add_pdb_option(command, options.pdbs);
  add_profile_option(command, options.profiles);
  add_members_option(command, options.members);
  add_known_build_options(command, options.known);
}

}  // namespace

void add_hooks_table(CLI::App& app, Exit& exit) {
  add_command<HooksTableOptions>(
      app, exit,
      {"table", "Generate hook tables for one build or many",
       "  coldtrace hooks table --kernel ntoskrnl.exe --ntdll ntdll.dll\n"
       "  coldtrace hooks table --dir builds --format hooktab -o tracer.hooktab\n"
       "  coldtrace hooks table --dir builds --profile tracer.profile --format c-header\n"
       "  coldtrace hooks table --kernel ntoskrnl.exe --pdb ntkrnlmp.pdb --format json\n"
       "  coldtrace hooks table --kernel ntoskrnl.exe --pdb ntkrnlmp.pdb --members edr\n"
       "  coldtrace hooks table --kernel ntoskrnl.exe --members edr --derive-from old/ntoskrnl.exe "
       "--derive-pdb old/ntkrnlmp.pdb\n"
       "  coldtrace hooks table --dir builds --format sqlite -o builds.sqlite\n",
       "  0  every build gave a table, and nothing in it is missing or contradicted\n"
       "  1  something is missing or contradicted (see the findings), or a file could not be\n"
       "     paired or read\n"
       "  2  usage, no kernel could be read, a file is not the image its option names,\n"
       "     or is for another machine, or the output cannot be written\n"},
      {"text", "json", "c-header", "csv", "hooktab", "sqlite"},
      [](Command& command, HooksTableOptions& options) {
        add_inputs(command, options);
        add_image_options(command, options);
        command
            .add_flag("--no-evidence", options.no_evidence,
                      "hooktab: leave out the evidence for each value")
            .for_formats({"hooktab"});
        command.before_sandbox([&options](SandboxNeeds& needs) {
          if (options.format == "sqlite") open_database_file(needs);
        });
      },
      run_hooks_table);
}

}  // namespace coldtrace::cli
