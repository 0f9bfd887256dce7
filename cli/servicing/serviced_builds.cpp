#include "cli/servicing/serviced_builds.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/hooks/member_lists.hpp"
#include "cli/hooks/table/build_files.hpp"
#include "cli/hooks/table/hook_table_document.hpp"
#include "cli/hooks/table/hook_table_input.hpp"
#include "cli/images/symbol_file.hpp"
#include "coldtrace/syscall-map/hook_table_encoder.hpp"
#include "coldtrace/syscall-map/trace_planner.hpp"

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
  std::string pdb;  // of the kernel; empty: none
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

// The build of a kernel; of a copy that of the file it is a copy of.
const BuildFiles* find_build(const std::vector<BuildFiles>& builds,
                             const syscall_map::ServicedModule& kernel) {
  const BuildFiles* alike = nullptr;
  for (const auto& files : builds) {
    if (files.front().path == kernel.path) return &files;
    if (alike == nullptr && same_headers(files.front().identity, kernel.identity)) alike = &files;
  }
  return alike;
}

std::optional<MadeTable> make_table(const BuildFiles& files, const Making& making,
                                    const std::vector<std::string>& trace_points,
                                    const std::vector<MemberRequest>& members) {
  MadeTable made;
  std::vector<pe::SymbolFile> symbols;
  if (const auto& pdb = files.front().identity.pdb)
    if (const auto path = making.pdbs.find(*pdb))
      if (auto file = open_symbol_file(*path, making.report)) {
        symbols.push_back(std::move(*file));
        made.pdb = *path;
      }
  auto table =
      make_hook_table(files, making.options, symbols, making.report, trace_points, members);
  if (!table) return std::nullopt;
  made.table = std::move(*table);
  return made;
}

void count_rows(RowChanges& changes) {
  for (const auto& row : changes.rows) ++changes.counts[static_cast<std::size_t>(row.state)];
}

// Requests for the members of a table: those of the options by their names, else what the table
// found.
std::vector<MemberRequest> requests_for(const HookTable& table,
                                        const std::vector<MemberRequest>& given) {
  std::vector<MemberRequest> requests;
  for (const auto& member : table.members) {
    if (!member.value) continue;
    const auto known = std::find_if(given.begin(), given.end(), [&](const MemberRequest& request) {
      return request.name == member.name && request.kind == member.kind;
    });
    requests.push_back(known != given.end()
                           ? *known
                           : MemberRequest{member.name, member.kind, {member.expression}, true});
  }
  return requests;
}

void tell_rows(const ServicedTable& table, core::Findings& findings) {
  for (const auto& row : table.changes.rows) {
    const auto text = fmt::format("{}: {} {}", table.path, to_string(row.kind),
                                  row.name.empty() ? "(no name)" : row.name);
    switch (row.state) {
      case RowState::moved:
        findings.warning("servicing-moved", std::nullopt, "{} is at another place", text);
        break;
      case RowState::changed:
        findings.warning("servicing-changed", std::nullopt, "{} is another one", text);
        break;
      case RowState::gone:
        findings.warning("servicing-gone", std::nullopt, "{} is gone: {}", text, row.reason);
        break;
      case RowState::unproved:
        findings.warning("servicing-unproved", std::nullopt, "{}: {}", text, row.reason);
        break;
      default:
        break;
    }
  }
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
    const auto* const old_files = find_build(old_builds_, before_.modules[*pair.before]);
    const auto* const new_files = find_build(new_builds_, after_.modules[*pair.after]);
    if (!old_files || !new_files) return;
    auto old_table = make_table(*old_files, making_, {}, making_.members);
    auto new_table = make_table(*new_files, making_, {}, making_.members);
    if (!old_table || !new_table) return;
    ServicedBuild build;
    build.changes.rows = syscall_map::compare_hook_rows(
        old_table->table, {new_table->table, !new_table->pdb.empty()});
    count_rows(build.changes);
    build.before = std::move(old_table->table.images);
    build.after = std::move(new_table->table.images);
    // Of a copy the images beside it are not looked for.
    build.before.front().path = before_.modules[*pair.before].path;
    build.after.front().path = after_.modules[*pair.after].path;
    build.pdb_before = std::move(old_table->pdb);
    build.pdb_after = std::move(new_table->pdb);
    result_.builds.push_back(std::move(build));
  }

  // Looks for the builds of a table among the old kernels.
  void add_table(const std::string& path, const std::vector<HookTable>& builds,
                 const std::vector<syscall_map::ModulePair>& pairs) {
    std::size_t missing = 0;
    for (const auto& build : builds) {
      const auto found = pairs_of(build, pairs);
      missing += found.empty();
      for (const auto* const pair : found) compare_table(path, build, *pair, builds);
    }
    if (missing > 0) result_.missing.emplace_back(path, missing);
    if (missing == builds.size())
      result_.findings.warning("servicing-table", std::nullopt,
                               "{}: {} has no kernel that this table was made of, so that nothing "
                               "is said of its rows",
                               path, before_.path);
    else if (missing > 0)
      result_.findings.info("servicing-table", std::nullopt,
                            "{}: {} has no kernel of {} of its {} builds, so that nothing is said "
                            "of their rows",
                            path, before_.path, missing, builds.size());
  }

  ServicedBuilds finish() { return std::move(result_); }

 private:
  // The pairs with the kernel of a build; without a partner only where none has one.
  std::vector<const syscall_map::ModulePair*> pairs_of(
      const HookTable& build, const std::vector<syscall_map::ModulePair>& pairs) const {
    const auto& kernel = *syscall_map::find_kernel(build);
    std::vector<const syscall_map::ModulePair*> whole, alone;
    for (const auto& pair : pairs)
      if (pair.before && before_.modules[*pair.before].role == ImageRole::kernel &&
          same_headers(before_.modules[*pair.before].identity, kernel.identity))
        (pair.after ? whole : alone).push_back(&pair);
    if (whole.empty() && !alone.empty()) whole.push_back(alone.front());
    return whole;
  }

  void compare_table(const std::string& path, const HookTable& build,
                     const syscall_map::ModulePair& pair, const std::vector<HookTable>& builds) {
    ServicedTable table{path, before_.identity(*pair.before), {}, false, {}, {}, {}};
    table.path_before = before_.modules[*pair.before].path;
    if (pair.after) table.path_after = after_.modules[*pair.after].path;
    const auto* const files =
        pair.after ? find_build(new_builds_, after_.modules[*pair.after]) : nullptr;
    std::optional<MadeTable> made;
    if (files)
      made = make_table(*files, making_, syscall_map::trace_requests(build.trace_points),
                        requests_for(build, making_.members));
    if (made) {
      table.after = after_.identity(*pair.after);
      table.covered = std::any_of(builds.begin(), builds.end(), [&](const HookTable& other) {
        return same_headers(syscall_map::find_kernel(other)->identity, table.after->identity);
      });
      table.changes.rows = syscall_map::compare_hook_rows(build, {made->table, !made->pdb.empty()});
      std::erase_if(table.changes.rows,
                    [](const RowChange& row) { return row.state == RowState::added; });
    } else {
      table.changes.rows =
          syscall_map::unproved_rows(build, "the new system has no kernel in this one's place");
    }
    count_rows(table.changes);
    tell_rows(table, result_.findings);
    result_.tables.push_back(std::move(table));
  }

  const ServicedSide& before_;
  const ServicedSide& after_;
  const Making& making_;
  std::vector<BuildFiles> old_builds_, new_builds_;
  ServicedBuilds result_;
};

}  // namespace

std::optional<ServicedBuilds> compare_serviced_builds(
    const ServicedSide& before, const ServicedSide& after,
    const std::vector<syscall_map::ModulePair>& pairs, PdbFiles& pdbs,
    const ServicingOptions& options, Report& report) {
  std::vector<std::vector<HookTable>> tables;
  for (const auto& path : options.tables)
    if (auto table = read_any_hook_table(path, report)) tables.push_back(std::move(*table));
  if (tables.size() < options.tables.size()) return std::nullopt;
  const auto members = read_member_lists(options.members);
  const Making making{pdbs, options, members, report};
  Builds builds{before, after, making};
  for (const auto& pair : pairs)
    if (pair.before && pair.after && before.modules[*pair.before].role == ImageRole::kernel &&
        after.modules[*pair.after].role == ImageRole::kernel)
      builds.add_build(pair);
  for (std::size_t i = 0; i < tables.size(); ++i)
    builds.add_table(options.tables[i], tables[i], pairs);
  return builds.finish();
}

}  // namespace coldtrace::cli
