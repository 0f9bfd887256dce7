#include "tracefile/where/event_vocabulary.hpp"

#include <fmt/format.h>

#include "coldtrace/core/nearest_names.hpp"
#include "coldtrace/tracefile/providers/extended_members.hpp"
#include "tracefile/where/where_members.hpp"

namespace coldtrace::tracefile {
namespace {

using Named = core::Expected<where::NamedMember, std::string>;

where::NamedMember named(WhereMember member, std::vector<std::string> path = {}) {
  return {static_cast<unsigned>(member), std::move(path), types_of(member)};
}

std::vector<std::string_view> all_member_names() {
  const auto members = where_member_names();
  std::vector<std::string_view> names{members.begin(), members.end()};
  names.insert(names.end(), line_member_names().begin(), line_member_names().end());
  return names;
}

std::string no_member(std::string_view path, std::string_view nearest_to,
                      std::span<const std::string_view> names, std::string_view prefix) {
  return fmt::format("no member '{}'{}", path, core::did_you_mean(nearest_to, names, prefix));
}

where::NamedMember of_line(where::WhereMemberTypes types, std::vector<std::string> path) {
  return {static_cast<unsigned>(WhereMember::line), std::move(path), types};
}

where::WhereMemberTypes types_of(ExtendedMember::Form form) {
  switch (form) {
    case ExtendedMember::Form::guid:
      return {.guid = true, .text = true};
    case ExtendedMember::Form::number:
    case ExtendedMember::Form::words:
      return {.number = true, .text = true};
    default:
      return {.text = true};
  }
}

// "sid" of "extended.sid".
Named find_extended(std::string_view path, std::vector<std::string> parts) {
  const auto form = find_extended_form(parts.front());
  if (parts.size() > 1 || !form)
    return core::fail(no_member(path, parts.front(), extended_member_names(), "extended."));
  auto member = named(WhereMember::extended, std::move(parts));
  member.types = types_of(*form);
  return member;
}

}  // namespace

Named EventVocabulary::find(std::string_view path, std::vector<std::string> parts) const {
  if (const auto member = find_where_member(path)) return named(*member);
  if (const auto types = find_line_member(path)) return of_line(*types, std::move(parts));
  const auto head = parts.front();
  const auto without_head = [&] {
    parts.erase(parts.begin());
    return std::move(parts);
  };
  if (head == "fields") return named(WhereMember::field, without_head());
  if (parts.size() > 1 && head == "extended") return find_extended(path, without_head());
  if (parts.size() > 1 && head == "resolved") {
    return named(WhereMember::resolved, without_head());
  }
  if (parts.size() > 2 && head == "etw" && parts[1] == "fields")
    return of_line(types_of(WhereMember::field), std::move(parts));
  if (find_where_member(head) || find_line_member(head))
    return core::fail(no_member(path, path, all_member_names(), ""));
  return named(WhereMember::field, std::move(parts));
}

core::Expected<WhereExpression, core::TextError> parse_where(std::string_view text) {
  auto where = where::parse_where(text, EventVocabulary{});
  if (!where) return core::fail(where.error());
  return WhereExpression{std::move(*where)};
}

}  // namespace coldtrace::tracefile
