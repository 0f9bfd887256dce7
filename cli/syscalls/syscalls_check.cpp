#include <memory>

#include <CLI/Error.hpp>

#include "cli/command/common_options.hpp"
#include "cli/command/version.hpp"
#include "cli/images/image_roles.hpp"
#include "cli/images/mapped_image.hpp"
#include "cli/images/module_check.hpp"
#include "cli/output/text.hpp"
#include "cli/syscalls/syscalls_commands.hpp"
#include "coldtrace/syscall-map/stubs/agreement.hpp"

namespace coldtrace::cli {
namespace {

using syscall_map::Agreement;
using syscall_map::ImageRole;

struct SyscallsCheckOptions : ModuleCheckOptions {  // of --pe and --dump
  std::string ntdll;
  std::string kernel;
};

void write_text(Output& output, const MappedImage& ntdll, const MappedImage& kernel,
                const Agreement& agreement) {
  print(output, "ntdll  {}: {}\n", printable(ntdll.path), to_text(ntdll.identity));
  print(output, "kernel {}: {}\n", printable(kernel.path), to_text(kernel.identity));
  if (agreement.shared == 0) {
    print(output,
          "no name has a number in both ({} in ntdll, {} in the kernel), so nothing could be "
          "compared\n",
          counted(ntdll.map.services.size(), "service", "services"), kernel.map.services.size());
    return;
  }
  print(output, "{} of {} the same number\n", agreement.equal,
        counted(agreement.shared, "shared name has", "shared names have"));
  for (const auto& name : agreement.disagreements)
    print(output, "{}: {:#x} in ntdll, {:#x} in the kernel\n", printable(name.name), name.user,
          name.kernel);
  if (!agreement.trusted()) {
    print(output, "below {} %: not the same build, so no kernel stub is named\n",
          syscall_map::least_agreement_percent);
    return;
  }
  if (agreement.named.empty()) return;
  print(output, "{} that no export names:\n",
        counted(agreement.named.size(), "kernel stub", "kernel stubs"));
  for (const auto& name : agreement.named)
    print(output, "{:#06x}  {}\n", name.kernel, printable(name.name));
}

void write_names(JsonWriter& json, std::string_view key,
                 const std::vector<Agreement::Name>& names) {
  json.key(key).begin_array();
  for (const auto& name : names)
    json.begin_object()
        .field("name", FileText{name.name})
        .field("ntdll", name.user)
        .field("kernel", name.kernel)
        .end_object();
  json.end_array();
}

void write_json(Output& output, Int64 int64, const MappedImage& ntdll, const MappedImage& kernel,
                const Agreement& agreement) {
  JsonWriter json{output, int64};
  json.begin_object().field("schema", "coldtrace.syscall-check/1").field("tool", tool_version);
  const auto write_side = [&](std::string_view key, const MappedImage& side) {
    json.key(key).begin_object().field("path", FileText{side.path}).key("identity");
    write_identity(json, side.identity);
    json.end_object();
  };
  write_side("ntdll", ntdll);
  write_side("kernel", kernel);
  json.field("shared", agreement.shared)
      .field("equal", agreement.equal)
      .field("trusted", agreement.trusted());
  write_names(json, "disagreements", agreement.disagreements);
  write_names(json, "named", agreement.named);
  json.end_object().end_document();
}

Exit check_numbers(const SyscallsCheckOptions& options) {
  Output output{options.output};
  output.outlive_reader();
  Report report{options.findings};
  const auto ntdll = map_image(options.ntdll, options, report);
  auto kernel = open_mapped_image(options.kernel, options, report);
  if (!ntdll || !kernel) return Exit::failure;
  const NamedImage user_side{ntdll->path, ntdll->identity.identity};
  const NamedImage kernel_side{kernel->path, kernel->identity.identity};
  require_role(user_side, ImageRole::ntdll);
  require_role(kernel_side, ImageRole::kernel);
  require_stubs(user_side, ImageRole::ntdll, ntdll->map.services);
  require_stubs(kernel_side, ImageRole::kernel, kernel->map.services);
  require_one_machine(user_side, kernel_side);
  const auto agreement = syscall_map::compare_sides(ntdll->map.services, kernel->map.services);
  if (agreement.named.empty()) syscall_map::note_unnamed(kernel->map);
  report.read(kernel->path, kernel->map.findings);
  if (options.format == "json") {
    write_json(output, options.int64, *ntdll, *kernel, agreement);
  } else {
    write_text(output, *ntdll, *kernel, agreement);
  }
  output.commit();
  const bool agreed = agreement.trusted() && agreement.disagreements.empty();
  return agreed ? report.exit() : Exit::findings;
}

Exit run_syscalls_check(const SyscallsCheckOptions& options) {
  const bool of_dump = !options.file.empty() && !options.dump.empty();
  const bool of_numbers = !options.ntdll.empty() && !options.kernel.empty();
  const bool other = options.file.empty() != options.dump.empty() ||
                     options.ntdll.empty() != options.kernel.empty();
  if (other || of_dump == of_numbers)
    throw CLI::RequiredError{"give --ntdll and --kernel, or --pe and --dump",
                             CLI::ExitCodes::RequiredError};
  if (of_numbers && (options.base || !options.modules.empty() || !options.other_dumps.empty() ||
                     !options.pdbs.empty()))
    throw Failure{"--base, --known-module, --other-dump and --pdb are for --pe and --dump"};
  return of_dump ? run_module_check(options, true) : check_numbers(options);
}

}  // namespace

void add_syscalls_check(CLI::App& app, Exit& exit) {
  add_command<SyscallsCheckOptions>(
      app, exit,
      {"check",
       "Check whether ntdll and kernel agree on service numbers, or whether a dump is hooked",
       "  coldtrace syscalls check --ntdll ntdll.dll --kernel ntoskrnl.exe\n"
       "  coldtrace syscalls check --pe ntdll.dll --dump ntdll.dump\n",
       "  0  every shared name has the same number on both sides; for a dump: nothing differs\n"
       "     except what the system itself writes\n"
       "  1  they disagree, share no name, or an image is suspicious; for a dump: something is\n"
       "     hooked or changed, or it is damaged or cut off\n"
       "  2  an input could not be read, or is not an ntdll or kernel, or they are for different "
       "machines;\n"
       "     for a dump: it is not of this image\n"},
      {"text", "json"},
      [](Command& command, SyscallsCheckOptions& options) {
        command.add_input("--ntdll", options.ntdll, "The user side: ntdll.dll");
        command.add_input("--kernel", options.kernel, "The kernel: ntoskrnl.exe");
        command.add_input("--pe", options.file, "An ntdll, win32u, win32k or kernel on disk");
        command.add_input("--dump", options.dump,
                          "Memory dump of the same module, to check for hooks");
        add_module_check_options(command, options);
      },
      run_syscalls_check);
}

}  // namespace coldtrace::cli
