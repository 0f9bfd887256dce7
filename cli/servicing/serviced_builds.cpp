#include "cli/servicing/serviced_builds.hpp"

#include <algorithm>

#include "cli/hooks/member_lists.hpp"
#include "cli/hooks/table/build_files.hpp"
#include "cli/hooks/table/hook_table_document.hpp"
#include "cli/hooks/table/hook_table_input.hpp"
#include "cli/images/symbol_file.hpp"
#include "coldtrace/core/ascii.hpp"
#include "coldtrace/pdb/type_file.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table_encoder.hpp"
#include "coldtrace/syscall-map/servicing/missing_members.hpp"
#include "coldtrace/syscall-map/trace-points/trace_planner.hpp"

namespace coldtrace::cli {
namespace {

using syscall_map::BuildFiles;
using syscall_map::HookTable;
using syscall_map::ImageRole;
using syscall_map::MemberRequest;
using syscall_map::RowChange;
using syscall_map::RowState;

// What both systems need to make tables.
struct Making {
  PdbFiles& pdbs;
  const ServicingOptions& options;
  const std::vector<MemberRequest>& members;
  Report& report;
};

struct MadeTable {
  HookTable table;
  std::string pdb;         // of the kernel; empty: none
  bool has_types = false;  // all of those of the kernel are in it
};

// The images of each kernel of a system.
std::vector<BuildFiles> builds_of(const ServicedSide& side, const ServicingOptions& options) {
  std::vector<syscall_map::HookTableImage> images;
  for (std::size_t i = 0; i < side.modules.size(); ++i) {
    const auto& module = side.modules[i];
    if (module.role)
      images.push_back({*module.role, module.path, module.identity, side.files[i].sha256});
  }
  return syscall_map::pair_builds(std::move(images), image_contents(options.layout)).builds;
}

std::optional<MadeTable> make_table(const BuildFiles& files, const Making& making,
                                    const std::vector<std::string>& trace_points,
                                    const std::vector<MemberRequest>& members) {
  MadeTable made;
  std::vector<pe::SymbolFile> symbols;
  if (const auto& pdb = files.front().identity.pdb)
    if (const auto path = making.pdbs.find(*pdb))
      if (auto file = open_symbol_file(*path, making.report)) {
        made.has_types = pe::has_all_types(*file);
        symbols.push_back(std::move(*file));
        made.pdb = *path;
      }
  auto table =
      make_hook_table(files, making.options, symbols, making.report, trace_points, members);
  if (!table) return std::nullopt;
  made.table = std::move(*table);
  return made;
}

class Builds {
 public:
  Builds(const ServicedSide& before, const ServicedSide& after, const Making& making)
      : before_{before},
        after_{after},
        making_{making},
        old_builds_{builds_of(before, making.options)},
        new_builds_{builds_of(after, making.options)} {}

  // Compares what a pair of kernels shows.
  void add_build(const syscall_map::ModulePair& pair) {
    const auto* const old_files =
        syscall_map::find_build(old_builds_, before_.modules[*pair.before]);
    const auto* const new_files = syscall_map::find_build(new_builds_, after_.modules[*pair.after]);
    if (!old_files || !new_files) return;
    auto old_table = make_table(*old_files, making_, {}, making_.members);
    auto new_table = make_table(*new_files, making_, {}, making_.members);
    if (!old_table || !new_table) return;
    ServicedBuild build;
    build.missing_before = syscall_map::list_missing_members(old_table->table);
    build.missing_after = syscall_map::list_missing_members(new_table->table);
    build.changes = syscall_map::count_states(syscall_map::compare_hook_rows(
        old_table->table, {new_table->table, !new_table->pdb.empty(), new_table->has_types}));
    build.before = std::move(old_table->table.images);
    build.after = std::move(new_table->table.images);
    // Of a copy the images beside it are not looked for.
    build.before.front().path = before_.modules[*pair.before].path;
    build.after.front().path = after_.modules[*pair.after].path;
    build.pdb_before = std::move(old_table->pdb);
    build.pdb_after = std::move(new_table->pdb);
    missing_members_.add("old", build.before.front().path, build.missing_before);
    missing_members_.add("new", build.after.front().path, build.missing_after);
    result_.builds.push_back(std::move(build));
  }

  // Looks for the builds of a table among the old kernels.
  void add_table(const std::string& path, const std::vector<HookTable>& builds,
                 const std::vector<syscall_map::ModulePair>& pairs) {
    std::size_t missing = 0;
    for (const auto& build : builds) {
      const auto found = syscall_map::pairs_of_kernel(pairs, before_.modules,
                                                      syscall_map::find_kernel(build)->identity);
      missing += found.empty();
      for (const auto& pair : found) compare_table(path, build, pair, builds);
    }
    if (missing > 0) result_.missing.emplace_back(path, missing);
    syscall_map::note_missing_kernels(path, before_.path, missing, builds.size(), result_.findings);
  }

  ServicedBuilds finish() {
    missing_members_.report(result_.findings);
    return std::move(result_);
  }

 private:
  void compare_table(const std::string& path, const HookTable& build,
                     const syscall_map::ModulePair& pair, const std::vector<HookTable>& builds) {
    ServicedTable table{path, before_.identity(*pair.before), {}, false, {}, {}, {}};
    table.path_before = before_.modules[*pair.before].path;
    if (pair.after) table.path_after = after_.modules[*pair.after].path;
    const auto* const files =
        pair.after ? syscall_map::find_build(new_builds_, after_.modules[*pair.after]) : nullptr;
    std::optional<MadeTable> made;
    if (files)
      made = make_table(*files, making_, syscall_map::trace_requests(build.trace_points),
                        syscall_map::repeat_requests(build, making_.members));
    std::vector<RowChange> rows;
    if (made) {
      table.after = after_.identity(*pair.after);
      table.covered = std::any_of(builds.begin(), builds.end(), [&](const HookTable& other) {
        return same_headers(syscall_map::find_kernel(other)->identity, table.after->identity);
      });
      rows =
          syscall_map::compare_hook_rows(build, {made->table, !made->pdb.empty(), made->has_types});
      std::erase_if(rows, [](const RowChange& row) { return row.state == RowState::added; });
    } else {
      rows = syscall_map::unproved_rows(build, "the new system has no kernel in place of this one");
    }
    syscall_map::note_row_changes(path, rows, result_.findings);
    table.changes = syscall_map::count_states(std::move(rows));
    result_.tables.push_back(std::move(table));
  }

  const ServicedSide& before_;
  const ServicedSide& after_;
  const Making& making_;
  std::vector<BuildFiles> old_builds_, new_builds_;
  syscall_map::MissingMembers missing_members_;
  ServicedBuilds result_;
};

}  // namespace

std::optional<std::vector<GivenTable>> read_given_tables(const ServicingOptions& options,
                                                         Report& report) {
  std::vector<GivenTable> tables;
  for (const auto& path : options.tables)
    if (auto builds = read_any_hook_table(path, report))
      tables.push_back({path, std::move(*builds)});
  if (tables.size() < options.tables.size()) return std::nullopt;
  return tables;
}

ServicedBuilds compare_serviced_builds(const ServicedSide& before, const ServicedSide& after,
                                       const std::vector<syscall_map::ModulePair>& pairs,
                                       const std::vector<GivenTable>& tables, PdbFiles& pdbs,
                                       const ServicingOptions& options, Report& report) {
  const auto members = read_member_lists(options.members);
  const Making making{pdbs, options, members, report};
  Builds builds{before, after, making};
  for (const auto& pair : pairs)
    if (pair.before && pair.after && before.modules[*pair.before].role == ImageRole::kernel &&
        after.modules[*pair.after].role == ImageRole::kernel)
      builds.add_build(pair);
  for (const auto& table : tables) builds.add_table(table.path, table.builds, pairs);
  return builds.finish();
}

}  // namespace coldtrace::cli
