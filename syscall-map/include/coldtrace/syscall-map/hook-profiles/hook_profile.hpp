#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/result.hpp"
#include "coldtrace/core/text_error.hpp"
#include "coldtrace/syscall-map/hook-profiles/profile_language.hpp"

namespace coldtrace::syscall_map {

// A whole profile: the rules of a file with those of its includes in their places, and all groups,
// which know each other.
struct HookProfile {
  struct Rule {
    ProfileRule text;
    u32 file = 0;   // of `files`
    u32 group = 0;  // of `groups`, where it is a use of one
  };

  struct Group {
    std::string name;
    std::vector<Rule> rules;
    u32 file = 0;
    core::TextPlace place;
    bool used = false;  // by a rule of the profile or of another group
  };

  std::vector<std::string> files;  // as they are called; the profile itself is the first
  std::vector<Group> groups;       // none is part of itself
  std::vector<Rule> rules;         // none is an include
};

// A text that rules come from.
struct ProfileSource {
  std::string path;  // what messages call it
  std::string id;    // the same for one file, however it is called
  std::string text;
};

// What an include names, seen from the file at the first path; or why it cannot be had.
using IncludeReader = std::function<core::Expected<ProfileSource, std::string>(
    const std::string& including, const std::string& included)>;

// Where a profile is wrong.
struct ProfileError {
  std::string path;
  core::TextError error;
};

// "tracer.profile:3:14: expected '{'"
[[nodiscard]] std::string to_string(const ProfileError& error);

// "tracer.profile:3"
[[nodiscard]] std::string place_of(const HookProfile& profile, u32 file, core::TextPlace place);

// Parses `source` and all that it includes. The first error ends it.
core::Expected<HookProfile, ProfileError> read_profile(ProfileSource source,
                                                       const IncludeReader& read_include);

}  // namespace coldtrace::syscall_map
