#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/command/common_options.hpp"
#include "cli/hooks/profile_file.hpp"

namespace coldtrace::cli {

void add_profile_check(CLI::App& group, Exit& exit);
void add_profile_expand(CLI::App& group, Exit& exit);
void add_profile_show(CLI::App& group, Exit& exit);

struct ProfileOptions : CommonOptions {
  std::string profile;
  std::vector<std::string> against;
};

// PROFILE and --against.
void add_profile_options(Command& command, ProfileOptions& options);

// A profile, the services that it is checked against, and those that it selects. The object must
// not move: the selection refers to the others.
struct SelectedServices {
  syscall_map::HookProfile profile;
  syscall_map::ServiceCatalogue catalogue;
  std::optional<syscall_map::ProfileSelection> selection;
  core::Findings findings;
};

// For a command that needs all of this: `write` writes it. Without --against, the services are
// those that the profile names; globs, which would select more, are then the warning
// `profile-globs`.
Exit run_on_selection(const ProfileOptions& options,
                      const std::function<void(Output&, SelectedServices&)>& write);

// The members "profile", "files" and "against".
void write_profile_fields(JsonWriter& json, const ProfileOptions& options,
                          const syscall_map::HookProfile& profile);

// The array of rules that match nothing.
void write_unmatched(JsonWriter& json, const syscall_map::HookProfile& profile,
                     const syscall_map::ProfileSelection& selection);

}  // namespace coldtrace::cli
