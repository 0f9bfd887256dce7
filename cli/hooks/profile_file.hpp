#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/command/common_options.hpp"
#include "coldtrace/core/result.hpp"
#include "coldtrace/syscall-map/hook-profiles/profile_findings.hpp"
#include "coldtrace/syscall-map/hook-profiles/service_choice.hpp"

namespace coldtrace::cli {

// The text of a file of at most `cap` bytes. Throws Failure if it cannot be read.
syscall_map::ProfileSource open_source(const std::string& path, u64 cap);

// The profile of a file and of everything that it includes: paths of includes are relative to the
// folder of the file that contains them. Throws Failure if the file at `path` cannot be read, or an
// included file is the output of `options`.
core::Expected<syscall_map::HookProfile, syscall_map::ProfileError> read_profile_file(
    const std::string& path, const CommonOptions& options);

// The same for commands that need a profile: throws Failure with the location of an error.
syscall_map::HookProfile open_profile(const std::string& path, const CommonOptions& options);

// Tells the sandbox that these profiles, which are asked for after parsing, include other files.
void leave_profiles(Command& command, std::function<std::vector<std::string>()> profiles);

// --profile of commands that filter the services of hook tables and traces.
void add_profile_option(Command& command, std::vector<std::string>& profiles);
std::vector<syscall_map::HookProfile> open_profiles(const std::vector<std::string>& paths,
                                                    const CommonOptions& options);

// What the profile selects; throws Failure if that cannot be determined in reasonable time.
syscall_map::ProfileSelection select(const syscall_map::HookProfile& profile,
                                     const syscall_map::ServiceCatalogue& catalogue);
// The same, and adds it to the choice.
syscall_map::ProfileSelection select(const syscall_map::HookProfile& profile,
                                     const syscall_map::ServiceCatalogue& catalogue,
                                     syscall_map::ServiceChoice& choice);

// {"path","line","column","rule"}
void write_profile_rule(JsonWriter& json, const syscall_map::HookProfile& profile,
                        const syscall_map::HookProfile::Rule& rule);

}  // namespace coldtrace::cli
