#include "cli/hooks/hooks_tables.hpp"

#include <algorithm>
#include <memory>

#include "cli/command/common_options.hpp"
#include "cli/command/each_file.hpp"
#include "cli/hooks/hooks_commands.hpp"
#include "cli/images/image_roles.hpp"
#include "cli/images/mapped_image.hpp"
#include "cli/output/terminal_progress.hpp"
#include "coldtrace/syscall-map/stubs/service_mapper.hpp"

namespace coldtrace::cli {
namespace {

using syscall_map::LocatedServiceTable;
using syscall_map::ServiceMap;
using syscall_map::ServiceTable;

struct HooksTablesOptions : PeOptions {
  std::string ntdll;
  std::string win32u;
};

// The user sides that names may come from.
struct UserSides {
  std::optional<MappedImage> ntdll;
  std::optional<MappedImage> win32u;
};

std::vector<std::string> known_names(const ServiceMap& kernel, const UserSides& users) {
  std::vector<std::string> names;
  syscall_map::append_service_names(kernel, names);
  if (users.ntdll) syscall_map::append_service_names(users.ntdll->map, names);
  return names;
}

void name_filter_table(std::vector<NamedTable>& tables) {
  const auto find = [&](std::string_view name) {
    return std::find_if(tables.begin(), tables.end(),
                        [&](const NamedTable& named) { return named.table.name == name; });
  };
  const auto filter = find("W32pServiceTableFilter"), plain = find("W32pServiceTable");
  if (filter != tables.end() && plain != tables.end())
    syscall_map::name_filter(plain->table, plain->names, filter->table, filter->names);
}

void name_after_user(const MappedImage& user, const HashedIdentity& identity, NamedTable& named,
                     core::Findings& findings) {
  named.user = user.path;
  const auto version = syscall_map::compare_versions(user.identity.identity, identity.identity);
  syscall_map::name_after({&user.map.services, version}, named.table, named.names, findings);
}

void name_tables(const pe::ImageTables& tables, const ServiceMap& kernel, const UserSides& users,
                 TablesImage& shown) {
  const auto* tab = shown.services_tab ? &*shown.services_tab : nullptr;
  for (auto& named : shown.tables)
    named.names = syscall_map::name_entries(tables, named.table, kernel.services, tab);
  name_filter_table(shown.tables);
  for (auto& named : shown.tables) {
    const auto& user = named.table.table == ServiceTable::nt ? users.ntdll : users.win32u;
    if (user) name_after_user(*user, shown.identity, named, shown.findings);
  }
}

std::optional<TablesImage> read_tables(const std::string& path, const HooksTablesOptions& options,
                                       const UserSides& users, Report& report) {
  auto input = open_pe(path, options, report);
  if (!input) return std::nullopt;
  TablesImage shown;
  shown.path = path;
  shown.identity = identify(*input, options);
  for (const auto* user : {&users.ntdll, &users.win32u})
    if (*user)
      require_one_machine({(*user)->path, (*user)->identity.identity},
                          {path, shown.identity.identity});
  const syscall_map::KernelView view{input->image};
  auto found = syscall_map::find_service_tables(view);
  shown.findings = input->findings();
  shown.findings.merge_unknown(found.findings);
  std::vector<const LocatedServiceTable*> kernel_tables;
  for (auto& table : found.tables) shown.tables.push_back({std::move(table), {}, {}});
  for (const auto& named : shown.tables)
    if (named.table.table == ServiceTable::nt) kernel_tables.push_back(&named.table);
  ServiceMap kernel;
  if (!kernel_tables.empty()) kernel = view.services();
  if (kernel_tables.size() == 1)
    shown.services_tab = syscall_map::find_services_tab(view, *kernel_tables.front(),
                                                        known_names(kernel, users), shown.findings);
  name_tables(view, kernel, users, shown);
  report.read(path, shown.findings);
  return shown;
}

// A user side that was asked for and cannot be read leaves entries without names.
std::optional<MappedImage> read_user_side(const std::string& path, syscall_map::ImageRole role,
                                          const HooksTablesOptions& options, Report& report) {
  if (path.empty()) return std::nullopt;
  auto side = map_image(path, options, report);
  if (!side) throw Failure{fmt::format("{}: no names can be read from it", path)};
  require_role({path, side->identity.identity}, role);
  require_stubs({path, side->identity.identity}, role, side->map.services);
  return side;
}

Exit run_hooks_tables(const HooksTablesOptions& options) {
  Output output{options.output};
  Report report{options.findings};
  const UserSides users{
      read_user_side(options.ntdll, syscall_map::ImageRole::ntdll, options, report),
      read_user_side(options.win32u, syscall_map::ImageRole::win32u, options, report)};
  std::vector<TablesImage> images;
  TerminalProgress progress{options.output, options.findings.quiet};
  progress.begin("reading", "files", size_of_files(options.files));
  for (const auto& path : options.files) {
    if (auto shown = read_tables(path, options, users, report)) images.push_back(std::move(*shown));
    progress.add(size_of_file(path), 1);
  }
  if (images.empty()) return Exit::failure;
  if (options.format == "json")
    write_tables_json(output, options.int64, images);
  else if (options.format == "csv")
    write_tables_csv(output, images);
  else
    write_tables_text(output, images);
  output.commit();
  return report.exit();
}

}  // namespace

void add_hooks_tables(CLI::App& app, Exit& exit) {
  add_command<HooksTablesOptions>(
      app, exit,
      {"tables", "List the service tables of kernels and win32k images, with evidence",
       "  coldtrace hooks tables ntoskrnl.exe\n"
       "  coldtrace hooks tables --ntdll ntdll.dll --format csv ntoskrnl.exe\n"
       "  coldtrace hooks tables --win32u win32u.dll --format json win32k.sys\n",
       "  0  every image has its tables, and nothing contradicts them\n"
       "  1  an image has none, or has them in several places, or two sources disagree\n"
       "  2  no input could be read, or the --ntdll or --win32u file could not be read, is a\n"
       "     different image or for another machine\n"},
      {"text", "json", "csv"},
      [](Command& command, HooksTablesOptions& options) {
        add_pe_options(command, options);
        command.add_input("--ntdll", options.ntdll, "ntdll.dll, whose exports name services");
        command.add_input("--win32u", options.win32u,
                          "win32u.dll, whose exports name services of win32k");
      },
      run_hooks_tables);
}

}  // namespace coldtrace::cli
