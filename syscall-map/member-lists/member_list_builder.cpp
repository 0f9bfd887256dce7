#include "syscall-map/member-lists/member_list_builder.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace coldtrace::syscall_map {
namespace {

template <class... Args>
[[noreturn]] void refuse(std::string_view at, fmt::format_string<Args...> text, Args&&... args) {
  throw MemberListBuilder::Error{at.data(), fmt::format(text, std::forward<Args>(args)...)};
}

std::string to_name(std::string_view token) {
  auto text = core::unquote_token(token, "name", longest_member_name);
  if (!text) refuse(token, "{}", text.error());
  return std::move(*text);
}

MemberKind to_kind(std::string_view word) {
  using enum MemberKind;
  for (const auto kind : {bit, size, global, function, constant})
    if (word == to_string(kind)) return kind;
  return offset;
}

bool is_path(std::string_view text) {
  return text.find('.') != text.npos;
}

// "_EPROCESS.Token": two names at least, none of them empty.
bool is_member(std::string_view text) {
  return is_path(text) && text.front() != '.' && text.back() != '.' && text.find("..") == text.npos;
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
  expressions_ = {name};
  ++alternatives_;
}

void MemberListBuilder::set_expression(std::string_view text) {
  request_.member.alternatives.front() = to_name(text);
  expressions_.front() = text;
}

void MemberListBuilder::add_alternative(std::string_view text) {
  if (request_.member.alternatives.size() == most_member_alternatives)
    refuse(text, "more than {} alternatives", most_member_alternatives);
  if (++alternatives_ > most_members)
    refuse(text, "more than {} alternatives in all", most_members);
  request_.member.alternatives.push_back(to_name(text));
  expressions_.push_back(text);
}

void MemberListBuilder::check() const {
  using enum MemberKind;
  const auto kind = request_.member.kind;
  for (std::size_t i = 0; i < expressions_.size(); ++i) {
    const auto& text = request_.member.alternatives[i];
    if ((kind == offset || kind == bit) && !is_member(text))
      refuse(expressions_[i], "'{}' is not a member: a structure, a dot and the member are needed",
             text);
    if (kind == size && is_path(text) && !is_member(text))
      refuse(expressions_[i], "'{}' is neither a type nor a member", text);
    if (kind == constant && !is_member(text))
      refuse(expressions_[i],
             "'{}' is not a constant: an enumeration, a dot and the enumerator are needed", text);
  }
}

void MemberListBuilder::end(std::string_view request) {
  if (!kind_is_said_) {
    const auto& all = request_.member.alternatives;
    const auto members = std::count_if(all.begin(), all.end(), is_path);
    if (members != 0 && members != std::ssize(all))
      refuse(request, "members and symbols are alternatives of '{}': say which kind it is",
             request_.member.name);
    request_.member.kind = members == 0 ? MemberKind::global : MemberKind::offset;
  }
  check();
  file_.statements.emplace_back(std::move(request_));
  request_ = {};
  kind_is_said_ = false;
}

void MemberListBuilder::use(std::string_view list) {
  if (file_.statements.size() == most_members) refuse(list, "more than {} members", most_members);
  file_.statements.emplace_back(MemberListFile::Use{std::string{list.substr(1)}, places_.of(list)});
}

}  // namespace coldtrace::syscall_map
