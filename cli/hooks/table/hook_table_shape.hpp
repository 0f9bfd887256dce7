#pragma once

#include <algorithm>
#include <initializer_list>
#include <limits>

#include <rapidjson/document.h>

#include "cli/output/json_members.hpp"

// Whether rows have every member that `hooks table` writes and tables are read by, of its type and
// in its range, and null only where it writes that. To be included by source files alone: it takes
// long to compile.
namespace coldtrace::cli::hook_table_shape {

using rapidjson::Value;

enum class MemberShape { flag, text, texts, objects, object, byte, half, word };

struct WrittenMember {
  const char* name;
  MemberShape shape;
  bool or_null = false;
};

inline bool is_number_to(const Value& json, const char* name, u64 most) {
  const auto number = number_member(json, name);
  return number && *number <= most;
}

inline bool all_elements(const Value& value, bool (Value::*is)() const) {
  return value.IsArray() && std::all_of(value.Begin(), value.End(),
                                        [&](const Value& element) { return (element.*is)(); });
}

inline bool is_written(const Value& json, const WrittenMember& member) {
  const auto found = json.FindMember(member.name);
  if (found == json.MemberEnd()) return false;
  const auto& value = found->value;
  if (value.IsNull()) return member.or_null;
  switch (member.shape) {
    case MemberShape::flag:
      return value.IsBool();
    case MemberShape::text:
      return value.IsString();
    case MemberShape::texts:
      return all_elements(value, &Value::IsString);
    case MemberShape::objects:
      return all_elements(value, &Value::IsObject);
    case MemberShape::object:
      return value.IsObject();
    case MemberShape::byte:
      return is_number_to(json, member.name, std::numeric_limits<u8>::max());
    case MemberShape::half:
      return is_number_to(json, member.name, std::numeric_limits<u16>::max());
    case MemberShape::word:
      return is_number_to(json, member.name, std::numeric_limits<u32>::max());
  }
  return false;
}

inline bool are_written(const Value& json, std::initializer_list<WrittenMember> members) {
  return json.IsObject() && std::all_of(members.begin(), members.end(), [&](const auto& member) {
           return is_written(json, member);
         });
}

// Of a list that is known to have objects alone.
template <class Is>
inline bool all_rows(const Value& json, const char* name, Is is) {
  const auto& rows = json.FindMember(name)->value;
  return std::all_of(rows.Begin(), rows.End(), is);
}

inline bool is_null(const Value& json, const char* name) {
  return json.FindMember(name)->value.IsNull();
}

inline bool is_written_image(const Value& json) {
  return are_written(json, {{"role", MemberShape::text}, {"identity", MemberShape::object}}) &&
         are_written(json.FindMember("identity")->value, {{"name", MemberShape::text, true},
                                                          {"machine", MemberShape::text},
                                                          {"file_version", MemberShape::text, true},
                                                          {"time_date_stamp", MemberShape::word},
                                                          {"size_of_image", MemberShape::word},
                                                          {"checksum", MemberShape::word},
                                                          {"sha256", MemberShape::text, true}});
}

inline bool is_written_service(const Value& json) {
  return are_written(json, {{"number", MemberShape::half},
                            {"table", MemberShape::text},
                            {"names", MemberShape::texts},
                            {"image", MemberShape::text, true},
                            {"target", MemberShape::word, true},
                            {"argument_bytes", MemberShape::word, true},
                            {"stack_argument_bytes", MemberShape::word, true},
                            {"name_hash", MemberShape::word, true}});
}

inline bool is_written_service_table(const Value& json) {
  const auto is_entry = [](const Value& entry) {
    return are_written(entry,
                       {{"rva", MemberShape::word}, {"argument_bytes", MemberShape::byte, true}});
  };
  return are_written(json, {{"image", MemberShape::text},
                            {"name", MemberShape::text},
                            {"table", MemberShape::text},
                            {"rva", MemberShape::word},
                            {"form", MemberShape::text},
                            {"limit", MemberShape::word, true},
                            {"arguments", MemberShape::word, true},
                            {"descriptor", MemberShape::word, true},
                            {"entries", MemberShape::objects}}) &&
         all_rows(json, "entries", is_entry);
}

inline bool is_written_services_tab(const Value& json) {
  const auto is_record = [](const Value& record) {
    return are_written(record, {{"hash", MemberShape::word},
                                {"argument_count", MemberShape::word},
                                {"rva", MemberShape::word},
                                {"name", MemberShape::text, true}});
  };
  return are_written(json, {{"rva", MemberShape::word}, {"records", MemberShape::objects}}) &&
         all_rows(json, "records", is_record);
}

inline bool is_written_context_switch(const Value& json) {
  const auto is_option = [](const Value& option) {
    return are_written(option, {{"method", MemberShape::text}, {"safe", MemberShape::flag}});
  };
  if (!are_written(json, {{"name", MemberShape::text},
                          {"rva", MemberShape::word},
                          {"condition", MemberShape::text},
                          {"first_bytes", MemberShape::text},
                          {"kernel_stack_offset", MemberShape::word, true},
                          {"plan", MemberShape::object}}))
    return false;
  const auto& plan = json.FindMember("plan")->value;
  return are_written(plan, {{"options", MemberShape::objects}}) &&
         all_rows(plan, "options", is_option);
}

inline bool is_written_field(const Value& json) {
  return are_written(json, {{"structure", MemberShape::text},
                            {"field", MemberShape::text},
                            {"offset", MemberShape::word}});
}

inline bool is_written_interface(const Value& json) {
  return are_written(json, {{"name", MemberShape::text},
                            {"exported", MemberShape::flag},
                            {"imported", MemberShape::flag},
                            {"rva", MemberShape::word, true}});
}

inline bool is_written_member(const Value& json) {
  if (!are_written(json, {{"name", MemberShape::text},
                          {"kind", MemberShape::text},
                          {"optional", MemberShape::flag},
                          {"expression", MemberShape::text, true},
                          {"size", MemberShape::word, true},
                          {"bit_position", MemberShape::byte, true},
                          {"bit_length", MemberShape::byte, true}}))
    return false;
  return json.HasMember("value") && is_null(json, "value") == is_null(json, "expression");
}

inline bool is_written_point(const Value& json) {
  return are_written(json, {{"requested", MemberShape::text},
                            {"source", MemberShape::text, true},
                            {"rva", MemberShape::word, true},
                            {"eligible", MemberShape::flag},
                            {"instruction", MemberShape::object, true}});
}

inline unsigned count_unwritten_parts(const Value& build) {
  unsigned wrong = 0;
  // What the lists have is counted row by row.
  for (const auto* name : {"images", "services", "service_tables", "thread_offsets",
                           "supported_interfaces", "members", "trace_points"})
    wrong += find_member(build, name, &Value::IsArray) == nullptr;
  wrong += !are_written(build, {{"services_tab", MemberShape::object, true}});
  const auto* const search = find_member(build, "context_switch", &Value::IsObject);
  wrong += search == nullptr || !find_member(*search, "candidates", &Value::IsArray) ||
           !are_written(*search, {{"reasons", MemberShape::texts}});
  return wrong;
}

}  // namespace coldtrace::cli::hook_table_shape
