#include "syscall-map/hook-profiles/profile_builder.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "coldtrace/core/glob.hpp"
#include "coldtrace/core/text.hpp"

namespace coldtrace::syscall_map {
namespace {

template <class... Args>
[[noreturn]] void refuse(std::string_view at, fmt::format_string<Args...> text, Args&&... args) {
  throw ProfileBuilder::Error{at.data(), fmt::format(text, std::forward<Args>(args)...)};
}

// The text of a token that may stand in quotes.
std::string to_text(std::string_view token, std::string_view what, std::size_t longest) {
  const auto text = token.starts_with('"') ? token.substr(1, token.size() - 2) : token;
  if (text.empty()) refuse(token, "the {} is empty", what);
  if (text.size() > longest) refuse(token, "the {} is longer than {} bytes", what, longest);
  if (std::any_of(text.begin(), text.end(),
                  [](char c) { return (c >= 0 && c < ' ') || c == 0x7f; }))
    refuse(token, "a control character is in the {}", what);
  if (!core::is_valid_utf8(text)) refuse(token, "the {} is not UTF-8", what);
  return std::string{text};
}

ProfileName to_name(std::string_view token) {
  return {to_text(token, "name", longest_profile_name), !token.starts_with('"') && is_glob(token)};
}

}  // namespace

ProfilePlace ProfileBuilder::place_of(std::string_view token) {
  for (; counted_ != token.data(); ++counted_)
    if (*counted_ == '\n') {
      ++line_;
      line_start_ = counted_ + 1;
    }
  return {line_, static_cast<u32>(token.data() - line_start_) + 1};
}

ProfileRule& ProfileBuilder::add(ProfileRule::Kind kind, std::string_view at) {
  if (++rules_ > most_profile_rules) refuse(at, "more than {} rules", most_profile_rules);
  auto& rules = in_group_ ? file_.groups.back().rules : file_.rules;
  auto& rule = rules.emplace_back();
  rule.kind = kind;
  rule.leaves_out = !sign_.empty();
  rule.place = place_of(sign_.empty() ? at : sign_);
  sign_ = {};
  return rule;
}

void ProfileBuilder::add_include(std::string_view path) {
  add(ProfileRule::Kind::include, path).name = {to_text(path, "path", longest_profile_path), false};
}

void ProfileBuilder::begin_group(std::string_view name) {
  if (file_.groups.size() == most_profile_groups)
    refuse(name, "more than {} groups", most_profile_groups);
  for (const auto& other : file_.groups)
    if (other.name == name)
      refuse(name, "there is a group '{}' already, in line {}", name, other.place.line);
  file_.groups.push_back({to_text(name, "name", longest_profile_name), {}, place_of(name)});
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
