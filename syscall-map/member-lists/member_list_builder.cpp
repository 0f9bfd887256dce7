#include "syscall-map/member-lists/member_list_builder.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "coldtrace/core/text.hpp"

namespace coldtrace::syscall_map {
namespace {

template <class... Args>
[[noreturn]] void refuse(std::string_view at, fmt::format_string<Args...> text, Args&&... args) {
  throw MemberListBuilder::Error{at.data(), fmt::format(text, std::forward<Args>(args)...)};
}

// A token that may stand in quotes.
std::string to_name(std::string_view token) {
  const auto text = token.starts_with('"') ? token.substr(1, token.size() - 2) : token;
  if (text.empty()) refuse(token, "the name is empty");
  if (text.size() > longest_member_name)
    refuse(token, "the name is longer than {} bytes", longest_member_name);
  if (std::any_of(text.begin(), text.end(),
                  [](char c) { return (c >= 0 && c < ' ') || c == 0x7f; }))
    refuse(token, "a control character is in the name");
  if (!core::is_valid_utf8(text)) refuse(token, "the name is not UTF-8");
  return std::string{text};
}

MemberKind to_kind(std::string_view word) {
  using enum MemberKind;
  for (const auto kind : {bit, size, global, function, constant})
    if (word == to_string(kind)) return kind;
  return offset;
}

bool has_two_parts(std::string_view text) {
  const auto parts = split_member(text);
  return !parts.type.empty() && !parts.path.empty();
}

}  // namespace

MemberListFile::Place MemberListBuilder::place_of(std::string_view token) {
  for (; counted_ != token.data(); ++counted_)
    if (*counted_ == '\n') {
      ++line_;
      line_start_ = counted_ + 1;
    }
  return {line_, static_cast<u32>(token.data() - line_start_) + 1};
}

void MemberListBuilder::set_optional(std::string_view) {
  request_.member.optional = true;
}

void MemberListBuilder::set_kind(std::string_view word) {
  request_.member.kind = to_kind(word);
  kind_is_said_ = true;
}

void MemberListBuilder::begin(std::string_view name) {
  if (file_.statements.size() == most_members) refuse(name, "more than {} members", most_members);
  request_.place = place_of(name);
  request_.member.name = to_name(name);
  request_.member.alternatives = {request_.member.name};
  ++alternatives_;
}

void MemberListBuilder::set_expression(std::string_view text) {
  request_.member.alternatives.front() = to_name(text);
}

void MemberListBuilder::add_alternative(std::string_view text) {
  if (request_.member.alternatives.size() == most_member_alternatives)
    refuse(text, "more than {} alternatives", most_member_alternatives);
  if (++alternatives_ > most_members)
    refuse(text, "more than {} alternatives in all", most_members);
  request_.member.alternatives.push_back(to_name(text));
}

void MemberListBuilder::check(std::string_view at, const MemberRequest& request) const {
  using enum MemberKind;
  for (const auto& text : request.alternatives) {
    if ((request.kind == offset || request.kind == bit) && !has_two_parts(text))
      refuse(at, "'{}' is no member: a structure, a dot and the member are needed", text);
    if (request.kind == constant && !has_two_parts(text))
      refuse(at, "'{}' is no constant: an enumeration, a dot and the enumerator are needed", text);
  }
}

void MemberListBuilder::end(std::string_view request) {
  if (!kind_is_said_) {
    const bool symbol = split_member(request_.member.alternatives.front()).path.empty();
    request_.member.kind = symbol ? MemberKind::global : MemberKind::offset;
  }
  check(request, request_.member);
  file_.statements.emplace_back(std::move(request_));
  request_ = {};
  kind_is_said_ = false;
}

void MemberListBuilder::use(std::string_view list) {
  if (file_.statements.size() == most_members) refuse(list, "more than {} members", most_members);
  file_.statements.emplace_back(MemberListFile::Use{std::string{list.substr(1)}, place_of(list)});
}

}  // namespace coldtrace::syscall_map
