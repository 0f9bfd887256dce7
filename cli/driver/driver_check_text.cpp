#include <algorithm>
#include <array>

#include "cli/driver/driver_check.hpp"
#include "cli/output/text.hpp"

namespace coldtrace::cli {
namespace {

template <class T>
std::string or_none(const std::optional<T>& number) {
  return number ? fmt::format("{}", *number) : std::string{"none"};
}

void write_hive(Output& output, const HiveInput& input) {
  const auto& recovery = input.recovery;
  print(output, "{} {}: ", name_of(input.kind), printable(input.path));
  const auto damaged = input.findings.count("hive-damaged");
  if (!recovery.before.is_dirty())
    print(output, "{}\n", damaged == 0 ? "clean" : "no changes are left to apply");
  else if (recovery.entries == 0)
    print(output, "dirty, its last changes are missing\n");
  else
    print(output, "was dirty; {} with {} applied in memory\n",
          counted(recovery.entries, "log entry", "log entries"),
          counted(recovery.pages, "page", "pages"));
  if (damaged > 0)
    print(output, "  damaged in {}: what cannot be read is not checked\n",
          counted(damaged, "place", "places"));
  for (const auto& log : recovery.logs)
    print(output, "  {}: sequence {}, entries applied: {}{}{}\n", printable(log.name), log.sequence,
          log.entries, log.left.empty() ? "" : "; ", printable(log.left));
}

void write_numbers(Output& output, const DriverCheckAnswer& answer) {
  const auto& configuration = answer.configuration;
  const auto& sets = configuration.sets;
  print(output, "control set: {} (current {}, default {}, failed {}, last known good {})\n",
        sets.name.empty() ? "none" : printable(sets.name), or_none(sets.current),
        or_none(sets.default_), or_none(sets.failed), or_none(sets.last_known_good));
  std::array<u64, 5> starts{};
  u64 drivers = 0;
  std::array<u64, 3> files{};  // there, missing, not known
  for (const auto& service : configuration.services) {
    if (!service.is_service()) continue;
    drivers += service.is_driver();
    if (service.start && *service.start < starts.size()) ++starts[*service.start];
    const auto there = answer.has_file(service);
    ++files[there ? (*there ? 0 : 1) : 2];
  }
  if (!configuration.services_whole)
    print(output,
          "Services has keys that cannot be read: services that others name are not reported as "
          "missing\n");
  print(output,
        "services: {}, {}; start: {} boot, {} system, {} automatic, {} demand, {} disabled\n",
        grouped(files[0] + files[1] + files[2]), counted(drivers, "driver", "drivers"),
        grouped(starts[0]), grouped(starts[1]), grouped(starts[2]), grouped(starts[3]),
        grouped(starts[4]));
  if (answer.files)
    print(output, "files of services: {} present, {} missing, {} unknown; Windows is in \\{}\n",
          grouped(files[0]), grouped(files[1]), grouped(files[2]),
          printable(answer.files->windows_folder()));
}

void write_problems(Output& output, const std::vector<registry::Problem>& problems) {
  if (problems.empty()) print(output, "\nno problems\n");
  for (const auto severity : {core::Severity::warning, core::Severity::info})
    for (const auto& problem : problems) {
      if (problem.severity != severity) continue;
      print(output, "\n{}: {}\n  {}{}{}{}{}\n  {}.\n  {}\n", to_string(severity),
            problem.code.view(), printable(problem.key), problem.value.empty() ? "" : ": ",
            printable(problem.value), problem.data ? " = " : "",
            printable(problem.data.value_or("")), printable(problem.text),
            printable(problem.advice));
    }
}

void write_filters(Output& output, const registry::Configuration& configuration) {
  print(output, "\nFilters:\n");
  for (const auto& list : configuration.filters) {
    print(output, "  {} {} {}:", list.of_device ? "device" : "class",
          printable(registry::has_text(list.class_name) ? *list.class_name
                                                        : list.class_id.value_or("")),
          printable(list.value));
    for (const auto& name : list.services) {
      const auto* service = configuration.find_service(name);
      print(output, " {} ({})", printable(name),
            service                        ? registry::start_name(service->start)
            : configuration.services_whole ? "no service"
                                           : "not known");
    }
    print(output, "\n    {}\n", printable(list.key));
  }
}

void write_dlls(Output& output, const registry::Configuration& configuration) {
  for (const auto& view : configuration.app_init) {
    print(output, "\n{}AppInit_DLLs: LoadAppInit_DLLs {}, RequireSignedAppInit_DLLs {}\n",
          view.wow64 ? "32-bit " : "", or_none(view.load), or_none(view.require_signed));
    for (const auto& dll : view.dlls) print(output, "  {}\n", printable(dll));
  }
  const auto& known = configuration.known_dlls;
  if (known.key.empty()) return;
  print(output, "\nKnownDLLs of {}{}{}:\n ", printable(known.directory.value_or("")),
        registry::has_text(known.directory_32) ? ", " : "",
        printable(known.directory_32.value_or("")));
  for (const auto& entry : known.entries)
    print(output, " {}={}", printable(entry.name), printable(entry.dll));
  print(output, "\n");
  for (const auto& name : known.excluded) print(output, "  excluded: {}\n", printable(name));
}

void write_autologgers(Output& output, const registry::Configuration& configuration) {
  print(output, "\nAutologger sessions:\n");
  for (const auto& session : configuration.autologgers) {
    print(output, "  {}: Start {}{}{}{}{}\n", printable(session.name), or_none(session.start),
          registry::has_text(session.file) ? ", " : "", printable(session.file.value_or("")),
          session.mode ? fmt::format(", mode {:#x}", *session.mode) : "",
          session.kernel_flags ? ", events of the kernel" : "");
    for (const auto& provider : session.providers)
      print(output, "    {} {}: Enabled {}, level {}, keywords {}\n", printable(provider.guid),
            provider.name.empty() ? "(name not known)" : printable(provider.name),
            or_none(provider.enabled), or_none(provider.level),
            provider.keywords ? fmt::format("{:#x}", *provider.keywords) : "none");
  }
}

}  // namespace

void write_driver_check_text(Output& output, const DriverCheckAnswer& answer) {
  for (const auto& input : answer.hives) write_hive(output, *input);
  if (answer.configuration.has_system) write_numbers(output, answer);
  write_problems(output, answer.problems);
  if (answer.configuration.has_system) write_filters(output, answer.configuration);
  write_dlls(output, answer.configuration);
  if (answer.configuration.has_system) write_autologgers(output, answer.configuration);
}

}  // namespace coldtrace::cli
