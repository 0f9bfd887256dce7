#include "cli/servicing/servicing_command.hpp"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "cli/command/common_options.hpp"
#include "cli/command/output_guard.hpp"
#include "cli/command/text_input.hpp"
#include "cli/hooks/member_lists.hpp"
#include "cli/images/image_roles.hpp"
#include "cli/images/pdb_files.hpp"
#include "cli/servicing/servicing_view.hpp"
#include "coldtrace/core/parallel.hpp"

namespace coldtrace::cli {
namespace {

namespace fs = std::filesystem;

void check_kinds(const ServicingOptions& options) {
  for (const auto& path : {options.before, options.after})
    if (is_pipe(path))
      throw Failure{fmt::format(
          "{}: a pipe can be read only once, but modules are read twice; save it to a file first",
          path)};
  const auto is_folder = [](const std::string& path) {
    std::error_code error;
    const auto status = fs::status(path, error);
    if (!fs::exists(status)) throw Failure{fmt::format("{}: {}", path, error.message())};
    return fs::is_directory(status);
  };
  if (is_folder(options.before) != is_folder(options.after))
    throw Failure{
        fmt::format("{} and {}: give two folders or two images", options.before, options.after)};
}

syscall_map::ModulePairs pair_files(const Servicing& servicing) {
  const auto& before = servicing.before.modules.front();
  const auto& after = servicing.after.modules.front();
  require_one_machine({before.path, before.identity}, {after.path, after.identity});
  return syscall_map::pair_given(before, after);
}

// PDBs of modules that changed; which ones are the same, hashes tell.
void find_pdbs(Servicing& servicing, PdbFiles& pdbs) {
  const auto find = [&](const ServicedSide& side, std::size_t index) {
    const auto& reference = side.modules[index].identity.pdb;
    return reference ? pdbs.find(*reference).value_or(std::string{}) : std::string{};
  };
  for (const auto* side : {&servicing.before, &servicing.after})
    for (const auto& module : side->modules)
      if (const auto& reference = module.identity.pdb) {
        pdbs.note_asked_for(*reference);
        pdbs.expect(*reference);
      }
  for (auto& pair : servicing.pairs) {
    const auto& [before, after, by] = pair.modules;
    if (!before || !after) continue;
    const auto& hash = servicing.before.files[*before].sha256;
    if (hash && hash == servicing.after.files[*after].sha256) continue;
    pair.pdb_before = find(servicing.before, *before);
    pair.pdb_after = find(servicing.after, *after);
  }
}

// What a module and its partner are: damage of a file counts, whether it changed or not.
void tell_module(const Servicing& servicing, const ServicedPair& pair, const ComparedPair& compared,
                 Report& report) {
  const auto tell = [&](const ServicedSide& side, std::optional<std::size_t> index,
                        const core::Findings& more) {
    if (!index) return;
    auto findings = side.files[*index].findings;
    findings.merge_unknown(more);
    report.read(side.modules[*index].path, findings);
  };
  tell(servicing.before, pair.modules.before, compared.before);
  tell(servicing.after, pair.modules.after, compared.after);
}

void compare_modules(Servicing& servicing, const ServicingOptions& options, ServicingWriter& writer,
                     TerminalProgress& progress, Report& report) {
  struct Item {
    std::size_t index = 0;
    ComparedPair compared;
  };
  std::size_t next = 0;
  const auto size_of = [&](const syscall_map::ModulePair& pair) {
    return pair.after ? servicing.after.files[*pair.after].size
                      : servicing.before.files[*pair.before].size;
  };
  u64 bytes = 0;
  for (const auto& pair : servicing.pairs) bytes += size_of(pair.modules);
  progress.begin("comparing", "modules", bytes);
  core::ordered_pipeline<Item>(
      options.jobs,
      [&](Item& item) {
        item.index = next++;
        return item.index < servicing.pairs.size();
      },
      [&](unsigned, Item& item) {
        item.compared = compare_serviced_pair(servicing.pairs[item.index], servicing.before,
                                              servicing.after, options);
      },
      [&](Item& item) {
        const auto& pair = servicing.pairs[item.index];
        const auto& compared = item.compared;
        if (!compared.failed.empty()) throw Failure{compared.failed + " (it changed meanwhile)"};
        tell_module(servicing, pair, compared, report);
        progress.add(size_of(pair.modules), 1);
        servicing.same += compared.same;
        servicing.added += !pair.modules.before;
        servicing.removed += !pair.modules.after;
        if (compared.same) return;
        if (pair.modules.before && pair.modules.after) ++servicing.changed;
        writer.module(servicing, pair, compared);
        item.compared = {};
      });
}

Exit run_servicing_command(const ServicingOptions& options) {
  check_kinds(options);
  refuse_files_below(options.output, {options.before, options.after});
  read_member_lists(options.members);  // what is wrong with one is told before all else
  Output output{options.output};
  output.outlive_reader();
  Report report{options.findings};
  Servicing servicing;
  TerminalProgress progress{options.output, options.findings.quiet};
  servicing.before = read_serviced_side(options.before, options, progress, report);
  servicing.after = read_serviced_side(options.after, options, progress, report);
  const auto tables = read_given_tables(options, report);
  if (!tables) return Exit::failure;
  for (const auto& table : *tables)
    for (const auto& build : table.builds)
      syscall_map::mark_kernels(servicing.before.modules, build);
  auto pairs = servicing.before.is_folder
                   ? syscall_map::pair_modules(servicing.before.modules, servicing.after.modules)
                   : pair_files(servicing);
  if (servicing.before.is_folder)
    leave_out_unread(pairs, servicing.before.modules, servicing.after.modules,
                     servicing.before.unread_places(), servicing.after.unread_places());
  syscall_map::mark_kernels(servicing.before.modules, servicing.after.modules, pairs.pairs);
  servicing.findings.merge(servicing.before.findings);
  servicing.findings.merge(servicing.after.findings);
  servicing.findings.merge(pairs.findings);
  for (const auto& pair : pairs.pairs) servicing.pairs.push_back({pair, {}, {}});
  const FileFolders none;
  PdbFiles pdbs{options.pdbs, none, servicing.findings, report};
  find_pdbs(servicing, pdbs);
  servicing.builds = compare_serviced_builds(servicing.before, servicing.after, pairs.pairs,
                                             *tables, pdbs, options, report);
  pdbs.report_unmatched();
  servicing.findings.merge(servicing.builds.findings);
  const auto writer = options.format == "json" ? make_servicing_json(output, options.int64)
                                               : make_servicing_text(output);
  writer->begin(servicing);
  compare_modules(servicing, options, *writer, progress, report);
  writer->end(servicing);
  report.tell(options.after, servicing.findings);
  output.commit();
  return report.exit();
}

}  // namespace

void add_servicing_command(CLI::App& app, Exit& exit) {
  add_command<ServicingOptions>(
      app, exit,
      {"servicing", "Show what an update changed: modules, system calls, hook offsets, events",
       "  coldtrace servicing old/System32 new/System32\n"
       "  coldtrace servicing old new --pdb symbols --format json -o update.json\n"
       "  coldtrace servicing old new --hook-table tracer.hooktab\n"
       "  coldtrace servicing old/ntdll.dll new/ntdll.dll\n",
       "  0  both were compared, and every row of the hook tables survives\n"
       "  1  a row of a hook table moved, changed, is gone or cannot be proved; or a file is\n"
       "     damaged, unreadable or unusable; or a requested member is missing\n"
       "  2  usage, or one side has no module that can be read, or a hook table cannot be read\n"},
      {"text", "json"},
      [](Command& command, ServicingOptions& options) {
        command
            .add_input("BEFORE", options.before,
                       "A folder, read with all folders below it, or an image")
            .required()
            .type_name("FILE|DIR");
        command.add_input("AFTER", options.after, "The same, after the update")
            .required()
            .type_name("FILE|DIR");
        command
            .add_input("--hook-table", options.tables,
                       "A driver's hook table, made from BEFORE by 'coldtrace hooks table' "
                       "(hooktab or JSON): show which of its rows survive")
            .repeatable();
        add_pdb_paths_option(command, options.pdbs);
        add_members_option(command, options.members);
        add_image_options(command, options);
        add_jobs_option(command, options, options.jobs);
      },
      run_servicing_command);
}

}  // namespace coldtrace::cli
