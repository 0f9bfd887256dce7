#pragma once

#include <string>
#include <vector>

#include "cli/command/common_options.hpp"
#include "coldtrace/core/result.hpp"
#include "coldtrace/syscall-map/hook-profiles/profile_findings.hpp"
#include "coldtrace/syscall-map/hook-profiles/service_choice.hpp"

namespace coldtrace::cli {

// The text of a file of at most `cap` bytes. Throws Failure if it cannot be read.
syscall_map::ProfileSource open_source(const std::string& path, u64 cap);

// The profile in a file and in all files it includes, whose paths are relative to the including
// file. Throws Failure if the file at `path` cannot be read, or an included one is the output of
// `options`.
core::Expected<syscall_map::HookProfile, syscall_map::ProfileError> read_profile_file(
    const std::string& path, const CommonOptions& options);

// The same for commands that need a profile: throws Failure with the place of an error.
syscall_map::HookProfile open_profile(const std::string& path, const CommonOptions& options);

// --profile, for commands that select services of hook tables and traces.
void add_profile_option(Command& command, std::vector<std::string>& profiles);
std::vector<syscall_map::HookProfile> open_profiles(const std::vector<std::string>& paths,
                                                    const CommonOptions& options);

// What the profile selects; throws Failure if that takes unreasonably long to find out.
syscall_map::ProfileSelection select(const syscall_map::HookProfile& profile,
                                     const syscall_map::ServiceCatalogue& catalogue);
// The same, added to `choice`.
syscall_map::ProfileSelection select(const syscall_map::HookProfile& profile,
                                     const syscall_map::ServiceCatalogue& catalogue,
                                     syscall_map::ServiceChoice& choice);

// {"path","line","column","rule"}
void write_profile_rule(JsonWriter& json, const syscall_map::HookProfile& profile,
                        const syscall_map::HookProfile::Rule& rule);

}  // namespace coldtrace::cli
