#include "syscall-map/member-lists/member_list_builder.hpp"

#include <fmt/format.h>

namespace coldtrace::syscall_map {
namespace {

template <class... Args>
[[noreturn]] void refuse(std::string_view at, fmt::format_string<Args...> text, Args&&... args) {
  throw MemberListBuilder::Error{at.data(), fmt::format(text, std::forward<Args>(args)...)};
}

std::string to_name(std::string_view token) {
  return core::unquote_token(token, "name", longest_member_name);
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

void MemberListBuilder::set_optional(std::string_view) {
  request_.member.optional = true;
}

void MemberListBuilder::set_kind(std::string_view word) {
  request_.member.kind = to_kind(word);
  kind_is_said_ = true;
}

void MemberListBuilder::begin(std::string_view name) {
  if (file_.statements.size() == most_members) refuse(name, "more than {} members", most_members);
  request_.place = places_.of(name);
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
  file_.statements.emplace_back(MemberListFile::Use{std::string{list.substr(1)}, places_.of(list)});
}

}  // namespace coldtrace::syscall_map
