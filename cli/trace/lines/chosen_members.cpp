#include "cli/trace/lines/chosen_members.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <span>

#include <fmt/format.h>
#include <rapidjson/document.h>

#include "cli/command/parsed_json.hpp"
#include "cli/output/json_text.hpp"
#include "cli/output/text.hpp"
#include "coldtrace/core/nearest_names.hpp"
#include "coldtrace/tracefile/providers/extended_members.hpp"
#include "coldtrace/tracefile/where/where_expression.hpp"

namespace coldtrace::cli {
namespace {

// Members of a line's own; every other name is a field.
constexpr std::array<std::string_view, 37> line_members = {"time",
                                                           "timestamp",
                                                           "time_quality",
                                                           "cpu",
                                                           "pid",
                                                           "tid",
                                                           "process",
                                                           "process_utf16",
                                                           "provider",
                                                           "name",
                                                           "id",
                                                           "opcode",
                                                           "version",
                                                           "level",
                                                           "keywords",
                                                           "activity",
                                                           "names",
                                                           "fields",
                                                           "schema_file",
                                                           "schema_file_version",
                                                           "schema_buffer",
                                                           "schema_version",
                                                           "message",
                                                           "trace_message",
                                                           "message_pdb",
                                                           "thread_source",
                                                           "resolved",
                                                           "trace_control",
                                                           "raw_reason",
                                                           "payload",
                                                           "trailing",
                                                           "etw",
                                                           "extended",
                                                           "header",
                                                           "stack",
                                                           "decoded",
                                                           "file"};

constexpr std::size_t most_names = 4096;  // of fields, that a message may suggest

// Takes the JSON value at the front of `rest`, which is valid and has no blanks.
std::string_view take_value(std::string_view& rest) {
  std::size_t depth = 0;
  std::size_t at = 0;
  bool quoted = false;
  for (; at < rest.size(); ++at) {
    const char c = rest[at];
    if (quoted) {
      if (c == '\\')
        ++at;
      else if (c == '"')
        quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (depth == 0) break;
      --depth;
    } else if ((c == ',' || c == ':') && depth == 0) {
      break;
    }
  }
  const auto value = rest.substr(0, at);
  rest.remove_prefix(value.size());
  return value;
}

// The value of a key, which is quoted, or nothing.
std::string_view find_member(std::string_view object, std::string_view key) {
  auto rest = object.substr(1);
  while (!rest.empty() && rest.front() != '}') {
    const auto name = take_value(rest);
    rest.remove_prefix(1);
    const auto value = take_value(rest);
    if (name == key) return value;
    rest.remove_prefix(rest.front() == ',' ? 1 : 0);
  }
  return {};
}

void append_path(core::TextBuffer& json, std::string_view value,
                 std::span<const std::string> keys) {
  if (keys.empty()) {
    json.append(value);
  } else if (value.starts_with('[')) {
    auto rest = value.substr(1);
    char separator = '[';
    while (rest.front() != ']') {
      json.append(separator);
      separator = ',';
      append_path(json, take_value(rest), keys);
      rest.remove_prefix(rest.front() == ',' ? 1 : 0);
    }
    if (separator == '[') json.append('[');
    json.append(']');
  } else {
    const auto member =
        value.starts_with('{') ? find_member(value, keys.front()) : std::string_view{};
    if (member.empty())
      json.append("null");
    else
      append_path(json, member, keys.subspan(1));
  }
}

// What a field of CSV has of a JSON value: text without quotes, nothing of null.
std::string cell_of(std::string_view json) {
  if (json == "null") return {};
  if (!json.starts_with('"')) return csv_field(json);
  if (json.find('\\') == json.npos) return csv_field(json.substr(1, json.size() - 2));
  const ParsedJson text{json};
  return csv_field({text.value().GetString(), text.value().GetStringLength()});
}

std::vector<std::string> parts_of(std::string_view name) {
  std::vector<std::string> parts;
  for (;;) {
    const auto dot = name.find('.');
    parts.emplace_back(name.substr(0, dot));
    if (dot == std::string_view::npos) return parts;
    name.remove_prefix(dot + 1);
  }
}

// Whether a member is the field, or has its exact bytes.
bool is_of_field(std::string_view member, std::string_view field) {
  if (!member.starts_with(field)) return false;
  member.remove_prefix(field.size());
  return member.empty() || member == "_utf16" || member == "_bytes";
}

bool has_field(const std::vector<tracefile::FieldSchema>& fields,
               std::span<const std::string> path) {
  return path.empty() || std::any_of(fields.begin(), fields.end(), [&](const auto& field) {
           return !field.padding && is_of_field(path.front(), field.name) &&
                  has_field(field.members, path.subspan(1));
         });
}

bool has_field(const tracefile::EventKind& kind, std::span<const std::string> path) {
  return (kind.schema && has_field(kind.schema->fields, path)) ||
         std::any_of(kind.others.begin(), kind.others.end(),
                     [&](const auto& schema) { return has_field(schema->fields, path); });
}

// The field that events must have for the member to be anything but null; empty: it needs none.
std::vector<std::string> field_of(const std::vector<std::string>& path) {
  if (path.front() == "fields") return {path.begin() + 1, path.end()};
  if (path.front() == "resolved" && path.size() > 1 && !is_of_field(path[1], "stack"))
    return parts_of(path[1]);
  return {};
}

// All that --where knows by name.
std::vector<std::string_view> known_members() {
  const auto members = tracefile::where_member_names();
  std::vector<std::string_view> names{members.begin(), members.end()};
  const auto others = tracefile::line_member_names();
  names.insert(names.end(), others.begin(), others.end());
  return names;
}

// Whether nothing of a trace's own, such as a field, can be below the member.
bool is_closed(const std::vector<std::string>& path) {
  const auto& head = path.front();
  if (head == "fields" || head == "resolved" || head == "extended") return false;
  if (head == "etw" && path.size() > 2 && path[1] == "fields") return false;
  return std::find(line_members.begin(), line_members.end(), head) != line_members.end();
}

}  // namespace

core::Expected<ChosenMembers, std::string> ChosenMembers::parse(
    const std::vector<std::string>& names) {
  ChosenMembers chosen;
  for (const auto& name : names) {
    Member member{name, parts_of(name), {}};
    auto& path = member.path;
    if (std::ranges::any_of(chosen.members_, [&](const Member& one) { return one.name == name; }))
      continue;
    if (name == "type") return core::fail(std::string{"'type' always comes first"});
    if (std::find(path.begin(), path.end(), "") != path.end())
      return core::fail(fmt::format("'{}' is not a name", name));
    const auto& head = path.front();
    if (path.size() > 1 && is_closed(path)) {
      const auto known = known_members();
      if (std::find(known.begin(), known.end(), name) == known.end())
        return core::fail(fmt::format("no member '{}'{}", name, core::did_you_mean(name, known)));
    }
    if (head == "extended" && path.size() > 1 &&
        (path.size() > 2 || !tracefile::find_extended_form(path[1])))
      return core::fail(fmt::format(
          "no member '{}'{}", name,
          core::did_you_mean(path[1], tracefile::extended_member_names(), "extended.")));
    if (head == "resolved" && path.size() > 1) path = {head, name.substr(head.size() + 1)};
    if (std::find(line_members.begin(), line_members.end(), head) == line_members.end())
      path.insert(path.begin(), "fields");
    for (const auto& part : path) {
      core::TextBuffer key;
      append_json_text(key, part);
      member.quoted.emplace_back(key.view());
    }
    chosen.members_.push_back(std::move(member));
  }
  return chosen;
}

bool ChosenMembers::header_fields() const {
  return std::any_of(members_.begin(), members_.end(),
                     [](const Member& member) { return member.path.front() == "header"; });
}

std::string ChosenMembers::csv_header() const {
  std::string header = "type";
  for (const auto& member : members_) header += "," + csv_field(member.name);
  return header + "\n";
}

void ChosenMembers::append_json(core::TextBuffer& text, std::string_view object) const {
  text.append("{\"type\":");
  text.append(find_member(object, "\"type\""));
  for (const auto& member : members_) {
    text.append(',');
    append_json_text(text, member.name);
    text.append(':');
    append_path(text, object, member.quoted);
  }
  text.append("}\n");
}

void ChosenMembers::append_csv(core::TextBuffer& text, std::string_view object) const {
  text.append(cell_of(find_member(object, "\"type\"")));
  core::TextBuffer value;
  for (const auto& member : members_) {
    value.clear();
    append_path(value, object, member.quoted);
    text.append(',');
    text.append(cell_of(value.view()));
  }
  text.append('\n');
}

void ChosenMembers::report(const std::vector<tracefile::KindCount>& kinds,
                           core::NoMatch& unmatched) const {
  std::set<std::string_view> names;
  for (const auto& count : kinds)
    if (count.kind.schema)
      for (const auto& field : count.kind.schema->fields)
        if (names.size() < most_names) names.insert(field.name);
  names.insert(line_members.begin(), line_members.end());
  const std::vector<std::string_view> all{names.begin(), names.end()};
  for (const auto& member : members_) {
    const auto path = field_of(member.path);
    if (path.empty()) continue;
    if (std::none_of(kinds.begin(), kinds.end(),
                     [&](const auto& count) { return has_field(count.kind, path); }))
      unmatched.add("--fields", member.name, all);
  }
}

}  // namespace coldtrace::cli
