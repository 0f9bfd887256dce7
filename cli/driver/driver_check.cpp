#include "cli/driver/driver_check.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/command/output_guard.hpp"
#include "cli/driver/driver_commands.hpp"
#include "cli/driver/driver_files_input.hpp"
#include "cli/sandbox/reading_rights.hpp"
#include "coldtrace/registry/hive/key.hpp"
#include "coldtrace/registry/recovery/log_names.hpp"
#include "coldtrace/tracefile/providers/registered_providers.hpp"

namespace coldtrace::cli {

using registry::HiveKind;

std::string_view name_of(HiveKind kind) {
  return kind == HiveKind::system ? "SYSTEM" : "SOFTWARE";
}

std::string_view name_of(registry::LogFormat format) {
  switch (format) {
    case registry::LogFormat::dirty_pages:
      return "dirty_pages";
    case registry::LogFormat::entries:
      return "entries";
    default:
      return "unknown";
  }
}

std::optional<bool> DriverCheckAnswer::has_file(const registry::Service& service) const {
  const auto file = service.file(configuration.windows);
  return file && files ? files->has(*file, registry::FileKind::file) : std::nullopt;
}

namespace {

struct DriverCheckOptions : CommonOptions {
  std::vector<std::string> hives;
  std::string files;
};

const registry::Hive* find_hive(const DriverCheckAnswer& answer, HiveKind kind) {
  for (const auto& input : answer.hives)
    if (input->kind == kind) return input->hive.get();
  return nullptr;
}

// Neither a log of the hive is replaced, nor is there a file afterwards that is taken for one.
void guard_logs(const DriverCheckOptions& options, const HiveInput& hive) {
  guard_output(options.output, options.format, hive.log_paths);
  if (registry::is_log_path(hive.path, options.output.path))
    throw Failure{
        fmt::format("{}: it would be mistaken for a log of {}", options.output.path, hive.path)};
}

void open_hives(const DriverCheckOptions& options, DriverCheckAnswer& answer) {
  for (const auto& path : options.hives) {
    auto input = open_hive(path);
    guard_logs(options, *input);
    if (find_hive(answer, input->kind))
      throw Failure{
          fmt::format("{}: a second {} hive; give one of each", path, name_of(input->kind))};
    answer.hives.push_back(std::move(input));
  }
}

// Which files are asked for has to be known before a snapshot is read.
void open_files(const std::string& path, DriverCheckAnswer& answer) {
  registry::AskedPaths asked;
  core::Findings unknown;
  (void)registry::check_drivers(answer.configuration, &asked, unknown);
  for (const auto& service : answer.configuration.services)
    if (const auto file = service.file(answer.configuration.windows))
      (void)asked.has(*file, registry::FileKind::file);
  answer.files_path = path;
  answer.files =
      open_driver_files(path, answer.configuration.windows, asked.names(), answer.findings);
  if (answer.files && answer.configuration.system_root.empty())
    answer.configuration.windows.name = registry::lower(answer.files->windows_folder());
}

// What problems are said of: SYSTEM, where it is there.
const std::string& main_path(const DriverCheckAnswer& answer) {
  for (const auto& input : answer.hives)
    if (input->kind == HiveKind::system) return input->path;
  return answer.hives.front()->path;
}

Exit run_driver_check(const DriverCheckOptions& options) {
  refuse_files_below(options.output, {options.files});
  Output output{options.output};
  output.outlive_reader();
  Report report{options.findings};
  DriverCheckAnswer answer;
  open_hives(options, answer);
  answer.configuration = registry::read_configuration(
      find_hive(answer, HiveKind::system), find_hive(answer, HiveKind::software),
      [](const core::Guid& guid) { return tracefile::find_registered_name(guid); });
  if (!options.files.empty()) open_files(options.files, answer);
  answer.problems =
      registry::check_drivers(answer.configuration, answer.files.get(), answer.findings);
  if (options.format == "json")
    write_driver_check_json(output, options.int64, answer);
  else
    write_driver_check_text(output, answer);
  for (const auto& input : answer.hives) report.read(input->path, input->findings);
  report.tell(main_path(answer), answer.findings);
  output.commit();
  return report.exit();
}

}  // namespace

void add_driver_check(CLI::App& app, Exit& exit) {
  add_command<DriverCheckOptions>(
      app, exit,
      {"check",
       "Check the configuration of drivers, filters, traces and loaded DLLs in registry hives",
       "  coldtrace driver check --hive SYSTEM --hive SOFTWARE\n"
       "  coldtrace driver check --hive config/SYSTEM --files files.ndjson --format json\n"
       "  coldtrace driver check --hive /mnt/Windows/System32/config/SYSTEM --files /mnt\n",
       "  0  nothing is wrong; findings that are merely unusual are informational\n"
       "  1  a driver, filter, trace or DLL is set up wrongly, a hive is damaged or lacks its last "
       "changes\n"
       "  2  an input could not be read, or is neither a SYSTEM nor a SOFTWARE hive\n"},
      {"text", "json"},
      [](Command& command, DriverCheckOptions& options) {
        command
            .add_input("--hive", options.hives,
                       "A SYSTEM or SOFTWARE hive; repeat for one of each. If it is dirty, the "
                       "logs beside it (.LOG, .LOG1, .LOG2) are applied in memory")
            .required()
            .repeatable();
        command
            .add_input("--files", options.files,
                       "NDJSON of 'coldtrace ntfs snapshot' for the volume with Windows, or a "
                       "folder where it is mounted, to check that drivers and DLLs exist")
            .type_name("FILE|DIR");
        command.before_sandbox([&options](SandboxNeeds& needs) {
          needs.find_more_inputs.emplace_back([&options](SandboxNeeds& more) {
            core::Findings told_later;
            for (const auto& hive : options.hives) {
              for (auto& folder : folders_of(hive)) more.listed.push_back(std::move(folder));
              for (auto& log : registry::find_logs(hive, told_later))
                more.inputs.push_back(std::move(log));
            }
          });
        });
      },
      run_driver_check);
}

}  // namespace coldtrace::cli
