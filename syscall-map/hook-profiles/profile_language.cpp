#include "coldtrace/syscall-map/hook-profiles/profile_language.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "coldtrace/core/glob.hpp"
#include "coldtrace/core/text.hpp"

namespace coldtrace::syscall_map {
namespace {

// A name in quotes is never a glob, and may be any word of the language.
std::string to_text(const ProfileName& name) {
  const auto& text = name.text;
  const bool bare = !text.empty() && text.front() != '-' && text.front() != '@' &&
                    is_glob(text) == name.glob && text != "include" && text != "group" &&
                    std::all_of(text.begin(), text.end(), is_profile_name_character);
  return bare ? text : fmt::format("\"{}\"", text);
}

}  // namespace

bool is_profile_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view{"_$@.-?*"}.find(c) != std::string_view::npos;
}

bool is_profile_name(std::string_view name) {
  const auto refused = [](char c) { return core::is_control(c) || c == '"'; };
  return !name.empty() && name.size() <= longest_profile_name && core::is_valid_utf8(name) &&
         std::none_of(name.begin(), name.end(), refused);
}

std::string to_text(const ProfileRule& rule) {
  const auto* sign = rule.leaves_out ? "-" : "";
  switch (rule.kind) {
    case ProfileRule::Kind::group:
      return fmt::format("{}@{}", sign, rule.name.text);
    case ProfileRule::Kind::include:
      return fmt::format("include \"{}\"", rule.name.text);
    case ProfileRule::Kind::services:
      break;
  }
  const auto module = rule.module ? to_text(*rule.module) + "!" : std::string{};
  return fmt::format("{}{}{}", sign, module, to_text(rule.name));
}

std::string to_text(const ProfileFile& file) {
  std::string text;
  for (const auto& group : file.groups) {
    text += fmt::format("group {} {{\n", group.name);
    for (const auto& rule : group.rules) text += fmt::format("  {}\n", to_text(rule));
    text += "}\n";
  }
  for (const auto& rule : file.rules) text += to_text(rule) + '\n';
  return text;
}

}  // namespace coldtrace::syscall_map
