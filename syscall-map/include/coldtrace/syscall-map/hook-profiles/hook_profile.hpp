#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/result.hpp"
#include "coldtrace/core/text_error.hpp"
#include "coldtrace/syscall-map/hook-profiles/profile_language.hpp"

namespace coldtrace::syscall_map {

// A whole profile: the rules of a file, with those of its includes inserted in their places, and
// all groups, which may refer to each other.
struct HookProfile {
  struct Rule {
    ProfileRule text;
    u32 file = 0;   // of `files`
    u32 group = 0;  // of `groups`, if the rule uses one
  };

  struct Group {
    std::string name;
    std::vector<Rule> rules;
    u32 file = 0;
    core::TextPlace place;
    bool used = false;  // by a rule of the profile or of another group
  };

  std::vector<std::string> files;  // as they are named; the profile itself is the first
  std::vector<Group> groups;       // none is part of itself
  std::vector<Rule> rules;         // none is an include
};

// A text that contains rules.
struct ProfileSource {
  std::string path;  // its name in messages
  std::string id;    // the same for one file under all its names
  std::string text;
};

// The file that an include names, relative to the file at the first path; or why it is not
// available.
using IncludeReader = std::function<core::Expected<ProfileSource, std::string>(
    const std::string& including, const std::string& included)>;

// The place of an error in a profile.
struct ProfileError {
  std::string path;
  core::TextError error;
};

// "tracer.profile:3:14: expected '{'"
[[nodiscard]] std::string to_string(const ProfileError& error);

// "tracer.profile:3"
[[nodiscard]] std::string place_of(const HookProfile& profile, u32 file, core::TextPlace place);

// Parses `source` and everything that it includes. The first error ends it.
core::Expected<HookProfile, ProfileError> read_profile(ProfileSource source,
                                                       const IncludeReader& read_include);

}  // namespace coldtrace::syscall_map
