#include <memory>

#include "cli/command/common_options.hpp"
#include "cli/command/version.hpp"
#include "cli/hooks/profile/hooks_profile.hpp"
#include "cli/output/text.hpp"
#include "coldtrace/syscall-map/hook-profiles/profile_expansion.hpp"

namespace coldtrace::cli {
namespace {

void write_json(Output& output, const ProfileOptions& options, const SelectedServices& selected) {
  JsonWriter json{output, options.int64};
  json.begin_object()
      .field("schema", "coldtrace.hook-profile-expansion/1")
      .field("tool", tool_version);
  write_profile_fields(json, options, selected.profile);
  json.key("services").begin_array();
  const auto count = static_cast<u32>(selected.catalogue.services().size());
  for (u32 index = 0; index < count; ++index) {
    if (!selected.selection->is_selected(index)) continue;
    const auto& service = selected.catalogue.services()[index];
    json.begin_object()
        .field("module", MaybeText{service.module})
        .field("names", FileTexts{service.names})
        .field("number", service.number)
        .end_object();
  }
  json.end_array().key("findings");
  write_findings(json, selected.findings);
  json.end_object().end_document();
}

Exit run_hooks_profile_expand(const ProfileOptions& options) {
  return run_on_selection(options, [&](Output& output, SelectedServices& selected) {
    if (options.format == "json") return write_json(output, options, selected);
    note_unnamed(selected.catalogue, *selected.selection, selected.findings);
    output.write(to_text(syscall_map::expand(*selected.selection, selected.catalogue)));
  });
}

}  // namespace

void add_profile_expand(CLI::App& group, Exit& exit) {
  add_command<ProfileOptions>(
      group, exit,
      {"expand", "List the services that a profile selects",
       "  coldtrace hooks profile expand my.profile\n"
       "  coldtrace hooks profile expand my.profile --against ntdll.dll -o services.profile\n",
       "  0  the list has every service that the profile selects\n"
       "  1  a name matches no service, nothing is selected, or there are globs and no --against\n"
       "  2  the profile has an error or could not be read, or no --against file could\n"},
      {"text", "json"},
      [](Command& command, ProfileOptions& options) { add_profile_options(command, options); },
      run_hooks_profile_expand);
}

}  // namespace coldtrace::cli
