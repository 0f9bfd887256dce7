#pragma once

#include <optional>
#include <string_view>

#include "coldtrace/tracefile/where/where_expression.hpp"

namespace coldtrace::tracefile {

// What members of a line can be compared as: the same for every event.
where::WhereMemberTypes types_of(WhereMember member);

// Members that are decided before a payload is decoded: for all events of a kind, or event by
// event.
bool is_of_kind(WhereMember member);
bool is_of_header(WhereMember member);
// Fields, and what their values stand for.
bool is_of_fields(WhereMember member);

std::optional<WhereMember> find_where_member(std::string_view name);

// What a member that only whole lines show can be compared as; nothing where there is none of that
// name. None of the types: it is an object.
std::optional<where::WhereMemberTypes> find_line_member(std::string_view name);

}  // namespace coldtrace::tracefile
