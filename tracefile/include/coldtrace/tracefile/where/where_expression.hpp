#pragma once

#include <span>
#include <string_view>

#include "coldtrace/where/where_expression.hpp"

namespace coldtrace::tracefile {

class EventLines;

using where::compare;
using where::Literal;
using where::match;
using where::Number;
using where::parse_number_literal;
using where::Subject;
using where::Truth;
using where::WhereMatch;
using where::WhereTest;

// An expression about events.
struct WhereExpression : where::WhereExpression {
  // Gives the members that only whole lines show; null: events have no such members.
  const EventLines* lines = nullptr;
};

// What a comparison looks at in an event: members of its line, in the order of the table in
// where_members.cpp, or something with a path: of a field, through structures, also of `resolved`;
// the name of a member of `extended`; what only a whole line shows.
enum class WhereMember : unsigned {
  time,
  timestamp,
  cpu,
  pid,
  tid,
  process,
  provider,
  provider_guid,
  provider_name,
  name,
  id,
  opcode,
  version,
  level,
  keywords,
  activity,
  stack,
  decoded,
  header_type,
  header_buffer,
  header_offset,
  header_size,
  header_payload_size,
  header_pointer_size,
  header_channel,
  header_task,
  header_kernel_time,
  header_user_time,
  header_processor_time,
  message,
  file,
  field,
  resolved,  // the name that the value of a field stands for
  extended,  // a member of `extended`
  line,      // what only EventLines knows
};

// The member that the test is about.
[[nodiscard]] inline WhereMember member_of(const WhereTest& test) {
  return static_cast<WhereMember>(test.member);
}

// Reads an expression that selects events; the first error ends it.
core::Expected<WhereExpression, core::TextError> parse_where(std::string_view text);

// The names of the members of a line that events and schemas supply, as written in expressions, and
// of those that only whole lines show.
[[nodiscard]] std::span<const std::string_view> where_member_names();
[[nodiscard]] std::span<const std::string_view> line_member_names();

// The first member that only whole lines show, as it was written; empty if there is none.
[[nodiscard]] std::string_view line_member_in(const WhereExpression& where);

}  // namespace coldtrace::tracefile
