#include "cli/hooks/iat/hooks_iat.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>

#include <CLI/Error.hpp>

#include "cli/command/common_options.hpp"
#include "cli/command/each_file.hpp"
#include "cli/command/standard_input.hpp"
#include "cli/hooks/hooks_commands.hpp"
#include "cli/output/terminal_progress.hpp"
#include "cli/sandbox/reading_rights.hpp"

namespace coldtrace::cli {
namespace {

struct HooksIatOptions : PeOptions {
  std::string program;
  std::vector<std::string> folders;
  pe::ImportSelection selection;
};

std::string folder_of(const std::string& program) {
  const auto folder = std::filesystem::path{program}.parent_path().string();
  return folder.empty() ? "." : folder;
}

// Of a selection of functions only the modules that are shown are hashed.
void identify_shown(const pe::ImportPlan& plan, pe::ModuleSet& set, ModuleFiles& files) {
  for (const auto& planned : plan.modules) files.identify_module(set.modules()[planned.module]);
}

// With a selection, modules that merely could find its functions at run time are told apart.
std::vector<pe::PlannedModule> take_silent(pe::ImportPlan& plan) {
  std::vector<pe::PlannedModule> silent;
  std::vector<pe::PlannedModule> others;
  for (auto& planned : plan.modules) {
    const bool is_silent = planned.slots.empty() && planned.own_functions.empty();
    (is_silent ? silent : others).push_back(std::move(planned));
  }
  plan.modules = std::move(others);
  return silent;
}

Exit run_hooks_iat(const HooksIatOptions& options) {
  if (options.program.empty() && options.folders.empty())
    throw CLI::RequiredError{"either FILE or --dir DIR"};
  Output output{options.output};
  Report report{options.findings};
  auto folders = options.folders;
  if (folders.empty()) folders.push_back(folder_of(options.program));

  TerminalProgress progress{options.output, options.findings.quiet};
  ModuleFiles files{options, options.selection};
  pe::ModuleSet set{[&](const std::string& path, bool has_schema) {
    progress.add(size_of_file(path), 1);
    return files.read(path, has_schema);
  }};
  u64 bytes = 0;
  for (const auto& folder : folders) bytes += add_folder(set, folder);
  progress.begin("reading", "files", options.program.empty() ? bytes : 0);
  if (options.program.empty()) {
    set.read_all();
    if (set.modules().empty()) throw Failure{fmt::format("{}: no module in it", folders.front())};
  } else if (const auto program = readable_path(options.program); !set.read_program(program)) {
    report.failed(options.program, set.unreadable().empty() ? why_no_module(program)
                                                            : set.unreadable().back().reason);
    return report.exit();
  }

  const auto tables = set.tables();
  auto plan = pe::make_import_plan(tables, set.schema(), options.selection, set.findings);
  auto silent = take_silent(plan);
  identify_shown(plan, set, files);
  for (const auto& module : set.modules()) report.read(module.path, module.findings);
  report.read(options.program.empty() ? folders.front() : options.program, set.findings);

  const IatDocument document{options.program, std::move(folders), options.selection, set,
                             files,           std::move(plan),    std::move(silent)};
  if (options.format == "json")
    write_iat_json(output, options.int64, document);
  else if (options.format == "csv")
    write_iat_csv(output, document);
  else
    write_iat_text(output, document);
  output.commit();
  return report.exit();
}

}  // namespace

std::string function_text(std::string_view name, std::optional<u32> ordinal) {
  if (name.data() != nullptr) return name.empty() ? "\"\"" : std::string{name};
  return ordinal ? fmt::format("#{}", *ordinal) : "(name cannot be read)";
}

std::string_view lookup_name(const IatDocument& document, const pe::ResolvedSlot& slot) {
  const auto& imported = document.tables(slot.module).slots[slot.slot];
  return imported.has_name() ? imported.name : document.plan.targets[slot.target].name;
}

std::optional<bool> is_binding_current(const IatDocument& document, const pe::ResolvedSlot& slot) {
  if (!slot.exporter) return std::nullopt;
  const auto& tables = document.tables(slot.module);
  return tables.is_bound_to(tables.slots[slot.slot], document.tables(*slot.exporter));
}

void add_hooks_iat(CLI::App& app, Exit& exit) {
  add_command<HooksIatOptions>(
      app, exit,
      {"iat", "List the import slots that calls go through, and calls that bypass them",
       "  coldtrace hooks iat --function CreateFileW program.exe\n"
       "  coldtrace hooks iat --dir system32 --function 'NtCreate*' --format csv\n"
       "  coldtrace hooks iat --dir app --dir system32 --format json app/program.exe -o "
       "plan.json\n",
       "  0  the plan was made; it says what the set of files lacks\n"
       "  1  a module cannot be read or is damaged, an import leads to nothing, or a --function "
       "or\n"
       "     --module selects nothing\n"
       "  2  the program or a folder cannot be read, or no module is in it\n"},
      {"text", "json", "csv"},
      [](Command& command, HooksIatOptions& options) {
        command.add_input("FILE", options.program,
                          "A program: the plan covers it and the DLLs that it leads to");
        command
            .add_input("--dir", options.folders,
                       "Folder with DLLs; several are searched in the given order. Without FILE, "
                       "the plan covers all modules in them. Default: the folder of FILE")
            .repeatable()
            .type_name("DIR");
        command
            .add_option("--function", options.selection.functions,
                        "Only this function, by its imported name or the one that forwarders lead "
                        "to: a name or glob ('*', '?'; case-sensitive); #12 is an ordinal")
            .repeatable()
            .type_name("GLOB");
        command
            .add_option(
                "--module", options.selection.modules,
                "Only slots of importing modules whose file name matches (case-insensitive)")
            .repeatable()
            .type_name("GLOB");
        add_image_options(command, options);
        command.before_sandbox([&options](SandboxNeeds& needs) {
          if (options.folders.empty() && !options.program.empty())
            needs.inputs.push_back(folder_of(options.program));
        });
      },
      run_hooks_iat);
}

}  // namespace coldtrace::cli
