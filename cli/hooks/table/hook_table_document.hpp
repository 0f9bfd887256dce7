#pragma once

#include <optional>
#include <string>
#include <vector>

#include <rapidjson/document.h>

#include "cli/command/parsed_json.hpp"
#include "cli/command/report.hpp"
#include "coldtrace/core/reader.hpp"
#include "coldtrace/core/result.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table.hpp"

namespace coldtrace::cli {

// The JSON of hook tables and system call maps, as other programs hand it back. Include it only in
// source files: it takes long to compile.

// The limit for JSON of tables.
inline constexpr u64 largest_hook_table_document = u64{64} << 20;

// The contents of such a file.
struct TableDocument {
  ParsedJson json;
  bool is_map = false;  // of `syscalls map`, with `images`; else with `builds`
};

// Fails with a sentence if the bytes are other JSON, incomplete or too many.
core::Expected<TableDocument, std::string> parse_table_document(core::ByteView bytes);

// An image of a build, without its PDB; nothing if it has no known role.
std::optional<syscall_map::HookTableImage> read_documented_image(const rapidjson::Value& json);
// What the headers of an image say; empty if `json` is not an object.
syscall_map::HookTableImage read_documented_image(const rapidjson::Value& json,
                                                  syscall_map::ImageRole role);
// What tables and maps say about a service; nothing if it lacks a number that a table can have. Its
// confidence, which a map does not have, is set by read_documented_build().
std::optional<syscall_map::HookService> read_documented_service(const rapidjson::Value& json);

// Appends the texts of an array.
void append_texts(const rapidjson::Value& object, const char* name,
                  std::vector<std::string>& texts);

// Calls take(object) for each object of an array; counts everything else in it.
template <class Take>
u64 each_object(const rapidjson::Value& object, const char* name, Take take);

// Everything of a build that its rows are made of (coldtrace/syscall-map/servicing/hook_rows.hpp),
// without its evidence. `unread` counts what is not as `hooks table` writes it.
syscall_map::HookTable read_documented_build(const rapidjson::Value& json, u64& unread);

// The builds in the JSON of a hook table, each as above. Fails with a sentence if there is none, or
// something in it is not as `hooks table` writes it.
core::Expected<std::vector<syscall_map::HookTable>, std::string> read_table_builds(
    const rapidjson::Value& json);

// The builds of a hook table, binary or the JSON of `hooks table` or `hooks show`, each with a
// kernel. On failure `report` says what the file is instead.
std::optional<std::vector<syscall_map::HookTable>> read_any_hook_table(const std::string& path,
                                                                       Report& report);

template <class Take>
u64 each_object(const rapidjson::Value& object, const char* name, Take take) {
  if (!object.IsObject()) return 0;
  const auto member = object.FindMember(name);
  if (member == object.MemberEnd() || !member->value.IsArray()) return 0;
  u64 others = 0;
  for (const auto& element : member->value.GetArray())
    if (element.IsObject())
      take(element);
    else
      ++others;
  return others;
}

}  // namespace coldtrace::cli
