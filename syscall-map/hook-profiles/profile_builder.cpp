#include "syscall-map/hook-profiles/profile_builder.hpp"

#include <fmt/format.h>

#include "coldtrace/core/glob.hpp"

namespace coldtrace::syscall_map {
namespace {

template <class... Args>
[[noreturn]] void refuse(std::string_view at, fmt::format_string<Args...> text, Args&&... args) {
  throw ProfileBuilder::Error{at.data(), fmt::format(text, std::forward<Args>(args)...)};
}

std::string unquote(std::string_view token, std::string_view what, std::size_t longest) {
  auto text = core::unquote_token(token, what, longest);
  if (!text) refuse(token, "{}", text.error());
  return std::move(*text);
}

ProfileName to_name(std::string_view token) {
  return {unquote(token, "name", longest_profile_name), !token.starts_with('"') && is_glob(token)};
}

}  // namespace

ProfileRule& ProfileBuilder::add(ProfileRule::Kind kind, std::string_view at) {
  if (++rules_ > most_profile_rules) refuse(at, "more than {} rules", most_profile_rules);
  auto& rules = in_group_ ? file_.groups.back().rules : file_.rules;
  auto& rule = rules.emplace_back();
  rule.kind = kind;
  rule.leaves_out = !sign_.empty();
  rule.place = places_.of(sign_.empty() ? at : sign_);
  sign_ = {};
  return rule;
}

void ProfileBuilder::add_include(std::string_view path) {
  add(ProfileRule::Kind::include, path).name = {unquote(path, "path", longest_profile_path), false};
}

void ProfileBuilder::begin_group(std::string_view name) {
  if (file_.groups.size() == most_profile_groups)
    refuse(name, "more than {} groups", most_profile_groups);
  for (const auto& other : file_.groups)
    if (other.name == name)
      refuse(name, "there is already a group '{}', in line {}", name, other.place.line);
  file_.groups.push_back({unquote(name, "name", longest_profile_name), {}, places_.of(name)});
  in_group_ = true;
}

void ProfileBuilder::end_group(std::string_view) {
  in_group_ = false;
}

void ProfileBuilder::leave_out(std::string_view sign) {
  sign_ = sign;
}

void ProfileBuilder::add_name(std::string_view name) {
  add(ProfileRule::Kind::services, name).name = to_name(name);
}

void ProfileBuilder::qualify(std::string_view name) {
  auto& rule = in_group_ ? file_.groups.back().rules.back() : file_.rules.back();
  rule.module = std::move(rule.name);
  rule.name = to_name(name);
}

void ProfileBuilder::add_group_use(std::string_view use) {
  add(ProfileRule::Kind::group, use).name = {std::string{use.substr(1)}, false};
}

}  // namespace coldtrace::syscall_map
