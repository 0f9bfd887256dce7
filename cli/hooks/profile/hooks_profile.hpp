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

// A profile, the services it is checked against, and what it selects of them. Must not be moved:
// the selection refers to the other members.
struct SelectedServices {
  syscall_map::HookProfile profile;
  syscall_map::ServiceCatalogue catalogue;
  std::optional<syscall_map::ProfileSelection> selection;
  core::Findings findings;
};

// Runs a command that needs all of these: `write` writes them. Without --against the services are
// those that the profile names, and globs, which stand for more, are the warning `profile-globs`.
Exit run_on_selection(const ProfileOptions& options,
                      const std::function<void(Output&, SelectedServices&)>& write);

// The members "profile", "files" and "against".
void write_profile_fields(JsonWriter& json, const ProfileOptions& options,
                          const syscall_map::HookProfile& profile);

// The array of rules that match nothing.
void write_unmatched(JsonWriter& json, const syscall_map::HookProfile& profile,
                     const syscall_map::ProfileSelection& selection);

}  // namespace coldtrace::cli
