#include "cli/hooks/profile/hooks_profile.hpp"

#include <algorithm>
#include <memory>

#include "cli/command/common_options.hpp"
#include "cli/hooks/hooks_commands.hpp"
#include "cli/hooks/profile/service_list.hpp"
#include "cli/hooks/profile_file.hpp"
#include "coldtrace/syscall-map/hook-profiles/profile_expansion.hpp"

namespace coldtrace::cli {
namespace {

using syscall_map::HookProfile;

// Nothing when no list of services could be read.
std::unique_ptr<SelectedServices> select_of_profile(const ProfileOptions& options, Report& report) {
  auto selected = std::make_unique<SelectedServices>();
  auto& [profile, catalogue, selection, findings] = *selected;
  profile = open_profile(options.profile, options);
  if (options.against.empty()) {
    catalogue = syscall_map::list_named_services(profile);
    selection = select(profile, catalogue);
    note_globs(profile, findings);
    return selected;
  }
  auto lists = read_service_lists(options.against, report);
  if (!lists) return nullptr;
  catalogue = std::move(*lists);
  selection = select(profile, catalogue);
  note_unmatched(profile, catalogue, *selection, findings);
  return selected;
}

}  // namespace

void add_profile_options(Command& command, ProfileOptions& options) {
  command.add_input("PROFILE", options.profile, "A hook profile, or a plain list of services")
      .required();
  leave_profiles(command, [&options] { return std::vector{options.profile}; });
  command.add_input(
      "--against", options.against,
      "Source of existing service names: a system call map or hook table (JSON or binary), a PE "
      "image with stubs such as ntdll.dll, or a list of names");
}

Exit run_on_selection(const ProfileOptions& options,
                      const std::function<void(Output&, SelectedServices&)>& write) {
  Output output{options.output};
  Report report{options.findings};
  const auto selected = select_of_profile(options, report);
  if (!selected) return Exit::failure;
  write(output, *selected);
  output.commit();
  report.read(options.profile, selected->findings);
  return report.exit();
}

void write_profile_fields(JsonWriter& json, const ProfileOptions& options,
                          const HookProfile& profile) {
  json.field("profile", options.profile)
      .field("files", profile.files)
      .field("against", options.against);
}

void write_unmatched(JsonWriter& json, const HookProfile& profile,
                     const syscall_map::ProfileSelection& selection) {
  json.begin_array();
  for (const auto* rule : selection.unmatched()) write_profile_rule(json, profile, *rule);
  json.end_array();
}

void add_hooks_profile(CLI::App& app, Exit& exit) {
  add_group(app, "profile", "Manage hook profiles: which services to hook",
            [&exit](CLI::App& group) {
              add_profile_check(group, exit);
              add_profile_expand(group, exit);
              add_profile_show(group, exit);
            });
}

}  // namespace coldtrace::cli
