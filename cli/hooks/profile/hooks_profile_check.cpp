#include <memory>

#include "cli/command/common_options.hpp"
#include "cli/command/version.hpp"
#include "cli/hooks/profile/hooks_profile.hpp"
#include "cli/hooks/profile/service_list.hpp"
#include "cli/output/text.hpp"

namespace coldtrace::cli {
namespace {

using syscall_map::HookProfile;
using syscall_map::ProfileError;

// What is wrong with a profile, or what is known of it.
struct Checked {
  std::optional<ProfileError> error;
  HookProfile profile;
  std::optional<syscall_map::ServiceCatalogue> catalogue;
  std::optional<syscall_map::ProfileSelection> selection;
  core::Findings findings;
};

void write_text(Output& output, const Checked& checked) {
  if (checked.error) {
    print(output, "{}\n", printable(to_string(*checked.error)));
    return;
  }
  const auto& profile = checked.profile;
  std::size_t rules = profile.rules.size();
  for (const auto& group : profile.groups) rules += group.rules.size();
  print(output, "{}: {}, {}, {}\n", printable(profile.files.front()),
        counted(rules, "rule", "rules"), counted(profile.groups.size(), "group", "groups"),
        counted(profile.files.size(), "file", "files"));
  for (const auto& group : profile.groups)
    if (!group.used)
      print(output, "{}: group '{}' is unused\n",
            printable(place_of(profile, group.file, group.place)), group.name);
  if (!checked.selection) return;
  for (const auto* rule : checked.selection->unmatched())
    print(output, "{}: no service matches {}\n", printable(place_text(profile, *rule)),
          printable(to_text(rule->text)));
}

void write_error(JsonWriter& json, const std::optional<ProfileError>& error) {
  if (!error) {
    json.value(nullptr);
    return;
  }
  json.begin_object()
      .field("path", FileText{error->path})
      .field("line", error->error.line)
      .field("column", error->error.column)
      .field("message", error->error.message)
      .end_object();
}

void write_json(Output& output, const ProfileOptions& options, const Checked& checked) {
  const auto& profile = checked.profile;
  JsonWriter json{output, options.int64};
  json.begin_object().field("schema", "coldtrace.hook-profile-check/1").field("tool", tool_version);
  write_profile_fields(json, options, profile);
  json.field("valid", !checked.error).key("error");
  write_error(json, checked.error);
  json.field("rules", profile.rules.size()).key("groups").begin_array();
  for (const auto& group : profile.groups)
    json.begin_object()
        .field("name", group.name)
        .field("path", FileText{profile.files[group.file]})
        .field("line", group.place.line)
        .field("column", group.place.column)
        .field("rules", group.rules.size())
        .field("used", group.used)
        .end_object();
  json.end_array().key("services");
  if (checked.catalogue)
    json.value(checked.catalogue->services().size());
  else
    json.value(nullptr);
  json.key("unmatched");
  if (checked.selection)
    write_unmatched(json, profile, *checked.selection);
  else
    json.value(nullptr);
  json.key("findings");
  write_findings(json, checked.findings);
  json.end_object().end_document();
}

Exit run_hooks_profile_check(const ProfileOptions& options) {
  Output output{options.output};
  output.outlive_reader();
  Report report{options.findings};
  Checked checked;
  auto profile = read_profile_file(options.profile, options);
  if (!profile) {
    checked.error = std::move(profile.error());
    report.mismatch();
  } else {
    checked.profile = std::move(*profile);
    note_unused_groups(checked.profile, checked.findings);
    if (!options.against.empty()) {
      checked.catalogue = read_service_lists(options.against, report);
      if (!checked.catalogue) return Exit::failure;
      checked.selection = select(checked.profile, *checked.catalogue);
      note_unmatched(checked.profile, *checked.catalogue, *checked.selection, checked.findings);
    }
  }
  options.format == "json" ? write_json(output, options, checked) : write_text(output, checked);
  output.commit();
  report.read(options.profile, checked.findings);
  return report.exit();
}

}  // namespace

void add_profile_check(CLI::App& group, Exit& exit) {
  add_command<ProfileOptions>(
      group, exit,
      {"check", "Check a profile, and that its names exist",
       "  coldtrace hooks profile check tracer.profile\n"
       "  coldtrace hooks profile check tracer.profile --against ntdll.dll --against win32u.dll\n",
       "  0  the profile is correct, and each name in it matches a service\n"
       "  1  it has an error, reported with line and column, or a name matches no service\n"
       "  2  it, or every --against file, could not be read\n"},
      {"text", "json"},
      [](Command& command, ProfileOptions& options) { add_profile_options(command, options); },
      run_hooks_profile_check);
}

}  // namespace coldtrace::cli
