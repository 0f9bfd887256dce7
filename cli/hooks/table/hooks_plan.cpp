#include <memory>

#include "cli/command/common_options.hpp"
#include "cli/hooks/hooks_commands.hpp"
#include "cli/hooks/table/hook_table_formats.hpp"
#include "cli/hooks/trace_plan.hpp"
#include "cli/images/image_roles.hpp"
#include "cli/images/symbol_option.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table_encoder.hpp"
#include "coldtrace/syscall-map/trace-points/trace_planner.hpp"

namespace coldtrace::cli {
namespace {

using syscall_map::ImageRole;

struct HooksPlanOptions : PeOptions {
  std::vector<std::string> functions;
  std::string kernel;
  std::string ntdll;
  std::vector<std::string> pdbs;
  std::vector<std::string> drivers;
  bool no_evidence = false;
};

std::vector<TraceDriver> read_drivers(const HooksPlanOptions& options, pe::Machine kernel,
                                      Report& report) {
  auto as_linked = options;
  as_linked.layout = pe::Layout::file;
  std::vector<TraceDriver> drivers;
  for (const auto& path : options.drivers) {
    auto input = open_pe(path, as_linked, report);
    if (!input) continue;
    TraceDriver driver;
    driver.path = path;
    driver.identity = identify(*input, as_linked);
    driver.check = syscall_map::check_trace_driver(input->image, kernel, input->findings());
    driver.findings = std::move(input->findings());
    report.read(path, driver.findings);
    drivers.push_back(std::move(driver));
  }
  return drivers;
}

// The plan alone: what the rest of a hook table lacks does not matter to it.
std::optional<TracePlan> make_plan(const HooksPlanOptions& options,
                                   std::vector<pe::SymbolFile>& pdbs, Report& report) {
  auto kernel = open_pe(options.kernel, options, report);
  if (!kernel) return std::nullopt;
  std::optional<PeInput> ntdll;
  if (!options.ntdll.empty()) ntdll = open_pe(options.ntdll, options, report);
  auto identity = identify(*kernel, options);
  require_role({options.kernel, identity.identity}, ImageRole::kernel);
  const syscall_map::KernelView view{kernel->image};
  std::optional<syscall_map::KernelView> user_view;
  std::vector<syscall_map::HookTableSource> sources{
      {{ImageRole::kernel, options.kernel, identity.identity, std::nullopt}, &view}};
  if (ntdll) {
    auto user = pe::read_identity(ntdll->image, ntdll->findings());
    require_role({options.ntdll, user}, ImageRole::ntdll);
    require_one_machine({options.ntdll, user}, {options.kernel, identity.identity});
    user_view.emplace(ntdll->image);
    require_stubs({options.ntdll, user}, ImageRole::ntdll, user_view->services().services);
    sources.push_back(
        {{ImageRole::ntdll, options.ntdll, std::move(user), std::nullopt}, &*user_view});
  }
  TracePlan plan{syscall_map::make_trace_plan(sources, pdbs, options.functions),
                 options.kernel,
                 std::move(identity),
                 {},
                 {}};
  plan.findings.merge(kernel->findings());
  if (ntdll) {
    plan.ntdll = options.ntdll;
    plan.ntdll_findings.merge(ntdll->findings());
  }
  plan.findings.merge_unknown(view.exports().findings);
  return plan;
}

Exit run_plan(const HooksPlanOptions& options, Output& output, Report& report) {
  auto pdbs = open_symbol_files(options.pdbs, report);
  auto plan = make_plan(options, pdbs, report);
  if (!plan) return Exit::failure;
  report.read(options.kernel, plan->findings);
  if (!plan->ntdll.empty()) report.read(plan->ntdll, plan->ntdll_findings);
  plan->drivers = read_drivers(options, plan->identity.identity.machine, report);
  options.format == "json" ? write_trace_plan_json(output, options.int64, *plan)
                           : write_trace_plan_text(output, *plan);
  output.commit();
  return report.exit();
}

// The table of the build, with the trace points in it.
Exit run_table(const HooksPlanOptions& options, Output& output, Report& report) {
  syscall_map::BuildFiles files{{ImageRole::kernel, options.kernel, {}, {}}};
  if (!options.ntdll.empty()) files.push_back({ImageRole::ntdll, options.ntdll, {}, {}});
  auto pdbs = open_symbol_files(options.pdbs, report);
  auto table = make_hook_table(files, options, pdbs, report, options.functions);
  if (!table) return Exit::failure;
  tell_hook_table(*table, report);
  read_drivers(options, syscall_map::find_kernel(*table)->identity.machine, report);
  HookTableDocument document;
  document.builds.push_back(std::move(*table));
  write_hook_table(output, options, !options.no_evidence, document);
  output.commit();
  return report.exit();
}

Exit run_hooks_plan(const HooksPlanOptions& options) {
  for (const auto& function : options.functions)
    if (!syscall_map::is_trace_request(function))
      throw Failure{fmt::format("--function {}: neither a name nor a number of 32 bits", function)};
  if (options.functions.size() > syscall_map::most_trace_points)
    throw Failure{fmt::format("{} places: a plan has at most {}", options.functions.size(),
                              syscall_map::most_trace_points)};
  Output output{options.output};
  Report report{options.findings};
  return options.format == "text" || options.format == "json" ? run_plan(options, output, report)
                                                              : run_table(options, output, report);
}

}  // namespace

void add_hooks_plan(CLI::App& app, Exit& exit) {
  add_command<HooksPlanOptions>(
      app, exit,
      {"plan", "Plan trace points of a kernel: where INT 3 may go, and the instruction to emulate",
       "  coldtrace hooks plan --kernel ntoskrnl.exe --function NtCreateFile 0x1234\n"
       "  coldtrace hooks plan --kernel ntoskrnl.exe --ntdll ntdll.dll --function NtClose+0x4\n"
       "  coldtrace hooks plan --kernel ntoskrnl.exe --function NtClose --driver tracer.sys\n"
       "  coldtrace hooks plan --kernel ntoskrnl.exe --function 'NtCreate*'\n"
       "  coldtrace hooks plan --kernel ntoskrnl.exe --function NtClose --format hooktab -o "
       "tracer.hooktab\n",
       "  0  a trace point can be set at each place, and each driver can be called back\n"
       "  1  a place or a driver is refused, a name or glob matches nothing, a PDB does not "
       "match,\n"
       "     or a file could not be read;\n"
       "     with c-header and hooktab also what 'hooks table' calls missing or contradicted\n"
       "  2  usage, the kernel could not be read, a file is not the image its option\n"
       "     names, or is for another machine, or the output cannot be written\n"},
      {"text", "json", "c-header", "hooktab"},
      [](Command& command, HooksPlanOptions& options) {
        command
            .add_option("--function", options.functions,
                        "Where: NAME, NAME+OFFSET or RVA, one or more. A NAME may be a glob ('*', "
                        "'?'; case-sensitive)")
            .required()
            .type_name("NAME|RVA");
        command.add_input("--kernel", options.kernel, "The kernel: ntoskrnl.exe").required();
        command.add_input("--ntdll", options.ntdll, "ntdll.dll, whose exports name services");
        add_pdb_option(command, options.pdbs);
        command
            .add_input("--driver", options.drivers,
                       "Check that this callback driver is linked with /INTEGRITYCHECK")
            .repeatable();
        add_image_options(command, options);
        command
            .add_flag("--no-evidence", options.no_evidence,
                      "hooktab: leave out the evidence for each value")
            .for_formats({"hooktab"});
      },
      run_hooks_plan);
}

}  // namespace coldtrace::cli
