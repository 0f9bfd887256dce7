#include <algorithm>
#include <map>
#include <memory>

#include "cli/command/common_options.hpp"
#include "cli/command/version.hpp"
#include "cli/hooks/profile/hooks_profile.hpp"
#include "cli/output/text.hpp"

namespace coldtrace::cli {
namespace {

// VxDMon's tree: green, yellow or red.
struct Module {
  std::string name;  // empty: the services of lists that do not say
  std::vector<u32> services;
  std::size_t selected = 0;

  std::string_view state() const {
    if (selected == 0) return "none";
    return selected == services.size() ? "all" : "some";
  }
};

// In the order in which the lists have them, as are the services of each.
std::vector<Module> modules_of(const SelectedServices& selected) {
  std::vector<Module> modules;
  std::map<std::string_view, std::size_t> places;
  const auto& services = selected.catalogue.services();
  for (u32 index = 0; index < services.size(); ++index) {
    const auto [place, is_new] = places.emplace(services[index].module, modules.size());
    if (is_new) modules.push_back({services[index].module, {}, 0});
    auto& module = modules[place->second];
    module.services.push_back(index);
    if (selected.selection->is_selected(index)) ++module.selected;
  }
  return modules;
}

std::string title(const syscall_map::ListedService& service) {
  if (!service.names.empty()) return service.names.front();
  return service.number ? fmt::format("{:#06x}", *service.number) : "?";
}

void write_text(Output& output, const SelectedServices& selected) {
  for (const auto& module : modules_of(selected)) {
    print(output, "{}: {}, {} of {}\n", module.name.empty() ? "no module" : printable(module.name),
          module.state(), grouped(module.selected),
          counted(module.services.size(), "service", "services"));
    std::size_t width = 0;
    for (const auto index : module.services)
      width = std::max(width, printable(title(selected.catalogue.services()[index])).size());
    for (const auto index : module.services) {
      std::string reason;
      for (const auto* rule : selected.selection->find_reason(index))
        reason += fmt::format("{}{} ({})", reason.empty() ? "  " : ", ", to_text(rule->text),
                              place_of(selected.profile, rule->file, rule->text.place));
      const auto name = printable(title(selected.catalogue.services()[index]));
      print(output, "  {} {}\n", selected.selection->is_selected(index) ? '+' : '-',
            reason.empty() ? name : fmt::format("{:<{}}{}", name, width, printable(reason)));
    }
  }
}

void write_service(JsonWriter& json, const SelectedServices& selected, u32 index) {
  const auto& service = selected.catalogue.services()[index];
  json.begin_object()
      .field("names", FileTexts{service.names})
      .field("number", service.number)
      .field("selected", selected.selection->is_selected(index))
      .key("reason")
      .begin_array();
  for (const auto* rule : selected.selection->find_reason(index))
    write_profile_rule(json, selected.profile, *rule);
  json.end_array().end_object();
}

void write_json(Output& output, const ProfileOptions& options, const SelectedServices& selected) {
  JsonWriter json{output, options.int64};
  json.begin_object().field("schema", "coldtrace.hook-profile/1").field("tool", tool_version);
  write_profile_fields(json, options, selected.profile);
  json.key("modules").begin_array();
  for (const auto& module : modules_of(selected)) {
    json.begin_object()
        .field("name", MaybeText{module.name})
        .field("state", module.state())
        .field("selected", module.selected)
        .key("services")
        .begin_array();
    for (const auto index : module.services) write_service(json, selected, index);
    json.end_array().end_object();
  }
  json.end_array().key("unmatched");
  write_unmatched(json, selected.profile, *selected.selection);
  json.key("findings");
  write_findings(json, selected.findings);
  json.end_object().end_document();
}

Exit run_hooks_profile_show(const ProfileOptions& options) {
  return run_on_selection(options, [&](Output& output, const SelectedServices& selected) {
    options.format == "json" ? write_json(output, options, selected) : write_text(output, selected);
  });
}

}  // namespace

void add_profile_show(CLI::App& group, Exit& exit) {
  add_command<ProfileOptions>(
      group, exit,
      {"show", "Show which modules a profile selects wholly, partly or not at all, and why",
       "  coldtrace hooks profile show tracer.profile --against tracer.hooktab\n"
       "  coldtrace hooks profile show tracer.profile --against services.dat --format json\n",
       "  0  all names in the profile match services\n"
       "  1  a name matches no service, nothing is selected, or there are globs and no --against\n"
       "  2  the profile has an error or could not be read, or no --against file could\n"},
      {"text", "json"},
      [](Command& command, ProfileOptions& options) { add_profile_options(command, options); },
      run_hooks_profile_show);
}

}  // namespace coldtrace::cli
