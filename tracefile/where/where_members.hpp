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

// Whether a line has a member of that name, which an expression may not know.
bool is_line_member(std::string_view name);

}  // namespace coldtrace::tracefile
