#include <memory>

#include "cli/command/common_options.hpp"
#include "cli/command/each_file.hpp"
#include "cli/command/version.hpp"
#include "cli/hooks/hooks_commands.hpp"
#include "cli/hooks/member_lists.hpp"
#include "cli/hooks/table/build_files.hpp"
#include "cli/hooks/table/hook_table_file.hpp"
#include "cli/hooks/table/hook_table_input.hpp"
#include "cli/hooks/table/hook_table_services.hpp"
#include "cli/images/symbol_option.hpp"
#include "cli/output/terminal_progress.hpp"
#include "cli/output/text.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table_verification.hpp"
#include "coldtrace/syscall-map/trace-points/trace_planner.hpp"

namespace coldtrace::cli {
namespace {

using syscall_map::BuildFiles;
using syscall_map::HookTable;
using syscall_map::HookTableVerification;

struct HooksVerifyOptions : PeOptions {
  std::string table;
  std::vector<std::string> pdbs;
  std::vector<std::string> profiles;
  std::vector<std::string> members;
  KnownBuildOptions known;
};

// Values that differ since a file cannot be read any more are not the table's fault.
void tell_unreadable(const HookTable& build, Report& report, core::Findings& findings) {
  for (const auto& image : build.images) {
    core::Findings unreadable;
    const auto& of_image =
        image.role == syscall_map::ImageRole::kernel ? build.findings : image.findings;
    for (const auto& finding : of_image.all())
      if (finding.code == core::Name{"unreadable-range"}) unreadable.merge(finding);
    report.tell(image.path, unreadable);
    findings.merge(unreadable);
  }
}

// `unreadable` are findings of files, which are told with their paths.
HookTableVerification verify(const std::vector<HookTable>& builds, const BuildFiles& files,
                             const HooksVerifyOptions& options, Report& report,
                             core::Findings& unreadable) {
  auto symbols = open_symbol_files(options.pdbs, report);
  const auto members = read_member_lists(options.members);
  const KnownBuilds known{options.known, options, report};
  const auto profiles = open_profiles(options.profiles, options);
  const auto make_again = [&](const HookTable& build, const BuildFiles& own) {
    auto again = make_hook_table(
        own, options, symbols, report, syscall_map::trace_requests(build.trace_points),
        build.members.empty() ? std::vector<syscall_map::MemberRequest>{} : members, &known);
    if (again) tell_unreadable(*again, report, unreadable);
    if (again && !profiles.empty()) keep_selected_services(profiles, {&*again, 1});
    return again;
  };
  return syscall_map::verify_hook_table(builds, files, image_contents(options.layout), make_again);
}

void write_text(Output& output, const HookTableVerification& result) {
  for (const auto& build : result.builds) {
    print(output, "{}: {}\n", pe::to_string(build.kernel.identity),
          build.differences.empty()
              ? "as in the table"
              : counted(build.differences.size(), "value differs", "values differ"));
    for (const auto& difference : build.differences)
      print(output, "  {}: {} in the table, {} in the files\n", printable(difference.path),
            printable(difference.before.value_or("absent")),
            printable(difference.after.value_or("absent")));
  }
  for (const auto& path : result.unmatched_files)
    print(output, "{}: no build of the table was made from it\n", printable(path));
  if (result.not_given > 0)
    print(output, "not checked, since the kernel is not given: {} of the table\n",
          counted(result.not_given, "build", "builds"));
}

void write_json(Output& output, Int64 int64, const HookTableVerification& result) {
  JsonWriter json{output, int64};
  json.begin_object()
      .field("schema", "coldtrace.hook-table-verification/1")
      .field("tool", tool_version)
      .key("builds")
      .begin_array();
  for (const auto& build : result.builds) {
    json.begin_object().key("kernel");
    write_identity(json, {build.kernel.identity, build.kernel.sha256});
    json.field("same", build.differences.empty()).key("differences").begin_array();
    for (const auto& difference : build.differences)
      json.begin_object()
          .field("path", FileText{difference.path})
          .field("table", difference.before)
          .field("files", difference.after)
          .end_object();
    json.end_array().end_object();
  }
  json.end_array()
      .field("unmatched_files", FileTexts{result.unmatched_files})
      .field("not_given", result.not_given)
      .key("findings");
  write_findings(json, result.findings);
  json.end_object().end_document();
}

Exit run_hooks_verify(const HooksVerifyOptions& options) {
  Output output{options.output};
  output.outlive_reader();
  Report report{options.findings};
  const auto builds = read_hook_table_file(options.table, report);
  if (!builds) return Exit::failure;
  BuildFiles files;
  TerminalProgress progress{options.output, options.findings.quiet};
  progress.begin("reading", "files", size_of_files(options.files));
  for (const auto& path : options.files) {
    progress.add(size_of_file(path), 1);
    auto input = open_pe(path, options, report);
    if (!input) continue;
    auto identity = pe::read_identity(input->image, input->findings());
    input->findings().merge_unknown(pe::ImageTables{input->image}.exports().findings);
    report.read(path, input->findings());
    const auto role = syscall_map::find_image_role(identity);
    files.push_back({role.value_or(syscall_map::ImageRole::kernel), path, std::move(identity), {}});
  }
  if (files.empty()) return Exit::failure;
  core::Findings unreadable;
  auto result = verify(*builds, files, options, report, unreadable);
  report.read(options.table, result.findings);
  result.findings.merge(unreadable);
  options.format == "json" ? write_json(output, options.int64, result) : write_text(output, result);
  output.commit();
  if (!result.is_same()) report.mismatch();
  return report.exit();
}

}  // namespace

void add_hooks_verify(CLI::App& app, Exit& exit) {
  add_command<HooksVerifyOptions>(
      app, exit,
      {"verify", "Verify a binary hook table against PE files",
       "  coldtrace hooks verify tracer.hooktab ntoskrnl.exe ntdll.dll win32u.dll win32k.sys\n",
       "  0  every value of the builds whose kernels are given matches the files\n"
       "  1  a value differs, an image of such a build is not given, or a file belongs to no\n"
       "     build, or has another file's headers and is not checked\n"
       "  2  the table, or every file, could not be read\n"},
      {"text", "json"},
      [](Command& command, HooksVerifyOptions& options) {
        command.add_input("TABLE", options.table, "A binary hook table").required();
        add_pe_options(command, options);
        add_pdb_option(command, options.pdbs);
        add_profile_option(command, options.profiles);
        add_members_option(command, options.members);
        add_known_build_options(command, options.known);
      },
      run_hooks_verify);
}

}  // namespace coldtrace::cli
