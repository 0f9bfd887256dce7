#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/text_tokens.hpp"

namespace coldtrace::syscall_map {

// The contents of one file of a hook profile, as docs/languages/hook-profiles.md describes it.

// The limits of the language: for one file, and for a profile with all its includes.
inline constexpr std::size_t largest_profile_file = 1 << 20;
inline constexpr std::size_t longest_profile_name = 256;
inline constexpr std::size_t longest_profile_path = 4096;
inline constexpr std::size_t most_profile_rules = 1 << 16;
inline constexpr std::size_t most_profile_groups = 1024;
inline constexpr std::size_t deepest_profile_group = 32;
inline constexpr std::size_t most_profile_includes = 256;
inline constexpr std::size_t deepest_profile_include = 16;

// A name of a service or a module, or a glob for several.
struct ProfileName {
  std::string text;
  bool glob = false;

  bool operator==(const ProfileName&) const = default;
};

// One line of a profile. Equality does not depend on its place.
struct ProfileRule {
  enum class Kind : u8 {
    services,  // NtClose, nt!Nt*File
    group,     // @files
    include,   // include "common.profile"
  };

  Kind kind = Kind::services;
  bool leaves_out = false;            // -NtClose
  std::optional<ProfileName> module;  // of `services`; nothing: any
  ProfileName name;                   // also of the group, and the path of the file
  core::TextPlace place;

  bool operator==(const ProfileRule& other) const {
    return kind == other.kind && leaves_out == other.leaves_out && module == other.module &&
           name == other.name;
  }
};

// Services under a common name. No rule is of kind `include`.
struct ProfileGroup {
  std::string name;
  std::vector<ProfileRule> rules;
  core::TextPlace place;

  bool operator==(const ProfileGroup& other) const {
    return name == other.name && rules == other.rules;
  }
};

// A parsed profile: its groups, and its own rules.
struct ProfileFile {
  std::vector<ProfileGroup> groups;
  std::vector<ProfileRule> rules;

  bool operator==(const ProfileFile&) const = default;
};

// Characters of names without quotes; '-' and '@' may not be the first.
[[nodiscard]] bool is_profile_name_character(char c);

// Whether a profile can contain a name, in quotes if necessary: it is UTF-8 without control
// characters and quotes.
[[nodiscard]] bool is_profile_name(std::string_view name);

// The rule as written in a profile: "-nt!Nt*File".
[[nodiscard]] std::string to_text(const ProfileRule& rule);

// Text that parse_profile reads back as the same. `file` is as the parser makes them.
[[nodiscard]] std::string to_text(const ProfileFile& file);

}  // namespace coldtrace::syscall_map
