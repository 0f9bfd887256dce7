#pragma once

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <string>

#include <rapidjson/document.h>

#include "cli/output/json_members.hpp"
#include "coldtrace/core/hex.hpp"

// Whether JSON has every member that `hooks table` writes and no other, with the right type and
// range, and null only where it writes null. Names, and what follows from other members, are left
// to the reader. Include it only in source files: it takes long to compile.
namespace coldtrace::cli::hook_table_shape {

using rapidjson::Value;

enum class MemberShape {
  flag,
  text,
  file_text,  // with its bytes in hexadecimal beside it if it is not UTF-8
  texts,
  file_texts,  // with the bytes beside them if not all are UTF-8
  words,
  object,   // of what `inside` says
  objects,  // each of what `inside` says
  rows,     // any list: its rows are read one by one
  value,    // any number, or a number as text
  byte,
  half,
  word,
  number,
  confidence,
};

struct WrittenMember {
  const char* name;
  MemberShape shape;
  bool or_null = false;
  bool (*inside)(const Value&) = nullptr;
};

inline bool is_number_to(const Value& object, const char* name, u64 most) {
  const auto number = number_member(object, name);
  return number && *number <= most;
}

// What is beside a text of a file, or nothing.
inline const Value* find_bytes(const Value& object, const WrittenMember& member) {
  const bool is_list = member.shape == MemberShape::file_texts;
  if (!is_list && member.shape != MemberShape::file_text) return nullptr;
  if (!find_member(object, member.name, is_list ? &Value::IsArray : &Value::IsString))
    return nullptr;
  const auto found = object.FindMember((std::string{member.name} + "_bytes").c_str());
  return found == object.MemberEnd() ? nullptr : &found->value;
}

inline bool is_hex(const Value& value) {
  return value.IsString() && value.GetStringLength() > 0 &&
         core::parse_hex({value.GetString(), value.GetStringLength()});
}

template <class Is>
bool all_elements(const Value& value, Is is) {
  return value.IsArray() && std::all_of(value.Begin(), value.End(), is);
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
    case MemberShape::file_text: {
      const auto* const bytes = find_bytes(json, member);
      return value.IsString() && (!bytes || is_hex(*bytes));
    }
    case MemberShape::texts:
      return all_elements(value, [](const Value& element) { return element.IsString(); });
    case MemberShape::file_texts: {
      const auto* const bytes = find_bytes(json, member);
      return all_elements(value, [](const Value& element) { return element.IsString(); }) &&
             (!bytes || (all_elements(*bytes,
                                      [](const Value& element) {
                                        return element.IsNull() || is_hex(element);
                                      }) &&
                         bytes->Size() == value.Size()));
    }
    case MemberShape::words:
      return all_elements(value, [](const Value& element) { return element.IsUint(); });
    case MemberShape::object:
      return value.IsObject() && member.inside(value);
    case MemberShape::objects:
      return all_elements(value, member.inside);
    case MemberShape::rows:
      return value.IsArray();
    case MemberShape::value:
      return value.IsUint64() || value.IsInt64() || value.IsString();
    case MemberShape::byte:
      return is_number_to(json, member.name, std::numeric_limits<u8>::max());
    case MemberShape::half:
      return is_number_to(json, member.name, std::numeric_limits<u16>::max());
    case MemberShape::word:
      return is_number_to(json, member.name, std::numeric_limits<u32>::max());
    case MemberShape::number:
      return number_member(json, member.name).has_value();
    case MemberShape::confidence: {
      const auto text = text_member(json, member.name);
      return text == "low" || text == "medium" || text == "high";
    }
  }
  return false;
}

inline bool are_written(const Value& json, std::initializer_list<WrittenMember> members) {
  if (!json.IsObject()) return false;
  const auto beside = std::count_if(members.begin(), members.end(), [&](const auto& member) {
    return find_bytes(json, member) != nullptr;
  });
  return json.MemberCount() == members.size() + static_cast<std::size_t>(beside) &&
         std::all_of(members.begin(), members.end(),
                     [&](const auto& member) { return is_written(json, member); });
}

inline bool is_null(const Value& json, const char* name) {
  return json.FindMember(name)->value.IsNull();
}

inline bool is_written_pdb(const Value& json) {
  return are_written(json, {{"name", MemberShape::file_text},
                            {"guid", MemberShape::text, true},
                            {"age", MemberShape::word}});
}

inline bool is_written_identity(const Value& json) {
  return are_written(json, {{"name", MemberShape::file_text, true},
                            {"machine", MemberShape::text},
                            {"file_version", MemberShape::text, true},
                            {"time_date_stamp", MemberShape::word},
                            {"size_of_image", MemberShape::word},
                            {"checksum", MemberShape::word},
                            {"pdb", MemberShape::object, true, is_written_pdb},
                            {"sha256", MemberShape::text, true},
                            {"wine", MemberShape::flag}});
}

inline bool is_written_unpaired(const Value& json) {
  return are_written(json, {{"path", MemberShape::file_text},
                            {"role", MemberShape::text},
                            {"identity", MemberShape::object, false, is_written_identity},
                            {"reason", MemberShape::text}});
}

inline bool is_written_finding(const Value& json) {
  return are_written(json, {{"code", MemberShape::text},
                            {"severity", MemberShape::text},
                            {"count", MemberShape::number},
                            {"first_offset", MemberShape::number, true},
                            {"text", MemberShape::text}});
}

// Early documents had no findings per image.
inline bool is_written_image(const Value& json) {
  const WrittenMember role{"role", MemberShape::text};
  const WrittenMember path{"path", MemberShape::file_text, true};
  const WrittenMember identity{"identity", MemberShape::object, false, is_written_identity};
  const WrittenMember findings{"findings", MemberShape::objects, false, is_written_finding};
  return are_written(json, {role, path, identity, findings}) ||
         are_written(json, {role, path, identity});
}

inline bool is_written_service(const Value& json) {
  return are_written(json, {{"number", MemberShape::half},
                            {"table", MemberShape::text},
                            {"names", MemberShape::file_texts},
                            {"image", MemberShape::text, true},
                            {"target", MemberShape::word, true},
                            {"argument_bytes", MemberShape::word, true},
                            {"stack_argument_bytes", MemberShape::word, true},
                            {"name_hash", MemberShape::word, true},
                            {"confidence", MemberShape::confidence},
                            {"verified", MemberShape::flag},
                            {"evidence", MemberShape::texts}});
}

inline bool is_written_entry(const Value& json) {
  return are_written(json, {{"number", MemberShape::half},
                            {"rva", MemberShape::word},
                            {"argument_bytes", MemberShape::byte, true},
                            {"import_module", MemberShape::file_text, true},
                            {"import_name", MemberShape::file_text, true}}) &&
         is_null(json, "import_module") == is_null(json, "import_name");
}

inline bool is_written_service_table(const Value& json) {
  return are_written(json, {{"image", MemberShape::text},
                            {"name", MemberShape::text},
                            {"table", MemberShape::text},
                            {"rva", MemberShape::word},
                            {"file_offset", MemberShape::number, true},
                            {"address", MemberShape::number},
                            {"form", MemberShape::text},
                            {"limit", MemberShape::word, true},
                            {"arguments", MemberShape::word, true},
                            {"descriptor", MemberShape::word, true},
                            {"verified", MemberShape::flag},
                            {"confidence", MemberShape::confidence},
                            {"evidence", MemberShape::texts},
                            {"entries", MemberShape::objects, false, is_written_entry}});
}

// Earlier documents have a `hash`.
inline bool is_written_record(const Value& json) {
  const auto has = [&](const char* hash) {
    return are_written(json, {{hash, MemberShape::word},
                              {"argument_count", MemberShape::word},
                              {"rva", MemberShape::word},
                              {"name", MemberShape::file_text, true},
                              {"numbers", MemberShape::words}});
  };
  return has("name_hash") || has("hash");
}

inline bool is_written_services_tab(const Value& json) {
  return are_written(json, {{"rva", MemberShape::word},
                            {"file_offset", MemberShape::number, true},
                            {"address", MemberShape::number},
                            {"verified", MemberShape::flag},
                            {"confidence", MemberShape::confidence},
                            {"evidence", MemberShape::texts},
                            {"records", MemberShape::objects, false, is_written_record}});
}

inline bool is_written_step(const Value& json) {
  return are_written(json, {{"rva", MemberShape::word},
                            {"length", MemberShape::byte},
                            {"bytes", MemberShape::text},
                            {"text", MemberShape::text},
                            {"relative_target", MemberShape::word, true},
                            {"grows", MemberShape::flag}});
}

// In earlier documents it is `proven`.
inline bool is_written_branch(const Value& json) {
  const auto is = [&](const char* proved) {
    return are_written(json, {{"from", MemberShape::word},
                              {"to", MemberShape::word},
                              {"text", MemberShape::text},
                              {"outside", MemberShape::flag},
                              {proved, MemberShape::flag}});
  };
  return is("proved") || is("proven");
}

inline bool is_written_option(const Value& json) {
  return are_written(json, {{"method", MemberShape::text},
                            {"sites", MemberShape::words},
                            {"written", MemberShape::word},
                            {"copied", MemberShape::word},
                            {"safe", MemberShape::flag},
                            {"reasons", MemberShape::texts}});
}

inline bool is_written_plan(const Value& json) {
  return are_written(json, {{"instructions", MemberShape::objects, false, is_written_step},
                            {"incoming", MemberShape::objects, false, is_written_branch},
                            {"padding_before", MemberShape::word},
                            {"needs_writable_mapping", MemberShape::flag},
                            {"options", MemberShape::objects, false, is_written_option},
                            {"notes", MemberShape::texts}});
}

inline bool is_written_caller(const Value& json) {
  return are_written(json, {{"rva", MemberShape::word},
                            {"function", MemberShape::word, true},
                            {"name", MemberShape::file_text, true}});
}

inline bool is_written_context_switch(const Value& json) {
  return are_written(json, {{"name", MemberShape::text},
                            {"rva", MemberShape::word},
                            {"file_offset", MemberShape::number, true},
                            {"address", MemberShape::number},
                            {"condition", MemberShape::text},
                            {"first_bytes", MemberShape::text},
                            {"end", MemberShape::word, true},
                            {"kernel_stack_offset", MemberShape::word, true},
                            {"self_patched", MemberShape::flag},
                            {"confidence", MemberShape::confidence},
                            {"verified", MemberShape::flag},
                            {"callers", MemberShape::objects, false, is_written_caller},
                            {"evidence", MemberShape::texts},
                            {"plan", MemberShape::object, false, is_written_plan}});
}

inline bool is_written_search(const Value& json) {
  return are_written(json, {{"candidates", MemberShape::rows}, {"reasons", MemberShape::texts}});
}

inline bool is_written_field(const Value& json) {
  return are_written(json, {{"structure", MemberShape::text},
                            {"field", MemberShape::text},
                            {"offset", MemberShape::word},
                            {"confidence", MemberShape::confidence},
                            {"verified", MemberShape::flag},
                            {"evidence", MemberShape::texts}});
}

inline bool is_written_interface(const Value& json) {
  return are_written(json, {{"name", MemberShape::text},
                            {"purpose", MemberShape::text},
                            {"exported", MemberShape::flag},
                            {"imported", MemberShape::flag},
                            {"rva", MemberShape::word, true},
                            {"note", MemberShape::text, true}});
}

inline bool is_written_member(const Value& json) {
  return are_written(json, {{"name", MemberShape::text},
                            {"kind", MemberShape::text},
                            {"optional", MemberShape::flag},
                            {"expression", MemberShape::text, true},
                            {"value", MemberShape::value, true},
                            {"size", MemberShape::word, true},
                            {"bit_position", MemberShape::byte, true},
                            {"bit_length", MemberShape::byte, true},
                            {"sources", MemberShape::texts},
                            {"confidence", MemberShape::confidence, true},
                            {"evidence", MemberShape::texts}}) &&
         is_null(json, "value") == is_null(json, "expression") &&
         is_null(json, "value") == is_null(json, "confidence");
}

inline bool is_written_function(const Value& json) {
  return are_written(json, {{"rva", MemberShape::word}, {"name", MemberShape::file_text, true}});
}

inline bool is_written_refusal(const Value& json) {
  return are_written(json, {{"code", MemberShape::text}, {"text", MemberShape::text}});
}

inline bool is_written_boundary(const Value& json) {
  return are_written(json, {{"state", MemberShape::text}, {"evidence", MemberShape::texts}});
}

inline bool is_written_instruction(const Value& json) {
  return are_written(json, {{"length", MemberShape::byte},
                            {"bytes", MemberShape::text},
                            {"text", MemberShape::text},
                            {"relocations", MemberShape::words},
                            {"mnemonic", MemberShape::text},
                            {"category", MemberShape::text},
                            {"prefix_bytes", MemberShape::byte},
                            {"branch", MemberShape::text},
                            {"target", MemberShape::word, true},
                            {"rip_relative", MemberShape::flag},
                            {"reads_memory", MemberShape::flag},
                            {"writes_memory", MemberShape::flag},
                            {"moves_stack", MemberShape::flag},
                            {"privileged", MemberShape::flag},
                            {"emulator", MemberShape::text}});
}

inline bool is_written_patch(const Value& json) {
  return are_written(
      json,
      {{"offset", MemberShape::word}, {"old", MemberShape::text}, {"new", MemberShape::text}});
}

inline bool is_written_point(const Value& json) {
  return are_written(json, {{"requested", MemberShape::text},
                            {"source", MemberShape::text, true},
                            {"source_evidence", MemberShape::texts},
                            {"rva", MemberShape::word, true},
                            {"file_offset", MemberShape::number, true},
                            {"address", MemberShape::number, true},
                            {"section", MemberShape::file_text, true},
                            {"names", MemberShape::file_texts},
                            {"function", MemberShape::object, true, is_written_function},
                            {"eligible", MemberShape::flag},
                            {"refusals", MemberShape::objects, false, is_written_refusal},
                            {"boundary", MemberShape::object, false, is_written_boundary},
                            {"instruction", MemberShape::object, true, is_written_instruction},
                            {"patch", MemberShape::object, true, is_written_patch}}) &&
         is_null(json, "source") == is_null(json, "rva");
}

// Counts the members of an object that are not as they should be, and those that are never written.
inline u64 count_unwritten(const Value& json, std::initializer_list<WrittenMember> members) {
  u64 wrong = 0;
  u64 absent = 0;
  for (const auto& member : members) {
    wrong += !is_written(json, member);
    absent += !json.HasMember(member.name);
  }
  return wrong + json.MemberCount() + absent - members.size();
}

// The contents of its lists are counted row by row.
inline u64 count_unwritten_parts(const Value& build) {
  return count_unwritten(build,
                         {{"images", MemberShape::rows},
                          {"services", MemberShape::rows},
                          {"service_tables", MemberShape::rows},
                          {"services_tab", MemberShape::object, true, is_written_services_tab},
                          {"context_switch", MemberShape::object, false, is_written_search},
                          {"thread_offsets", MemberShape::rows},
                          {"supported_interfaces", MemberShape::rows},
                          {"members", MemberShape::rows},
                          {"trace_points", MemberShape::rows},
                          {"findings", MemberShape::objects, false, is_written_finding}});
}

inline u64 count_unwritten_members(const Value& document) {
  return count_unwritten(document, {{"schema", MemberShape::text},
                                    {"tool", MemberShape::text},
                                    {"builds", MemberShape::rows},
                                    {"unpaired", MemberShape::objects, false, is_written_unpaired},
                                    {"findings", MemberShape::objects, false, is_written_finding}});
}

}  // namespace coldtrace::cli::hook_table_shape
