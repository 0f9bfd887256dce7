#include "coldtrace/tracefile/schema-language/schema_language.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace coldtrace::tracefile {
namespace {

constexpr std::array<std::string_view, 24> type_keywords = {"u8",
                                                            "u16",
                                                            "u32",
                                                            "u64",
                                                            "i8",
                                                            "i16",
                                                            "i32",
                                                            "i64",
                                                            "bool",
                                                            "bool32",
                                                            "pointer",
                                                            "size",
                                                            "guid",
                                                            "sid",
                                                            "filetime",
                                                            "ansi",
                                                            "utf16",
                                                            "counted_ansi",
                                                            "counted_utf16",
                                                            "bytes",
                                                            "counted_bytes",
                                                            "enum",
                                                            "flags",
                                                            "struct"};
static_assert(type_keywords.size() == static_cast<std::size_t>(FieldType::structure) + 1);

constexpr std::array<std::string_view, 20> meaning_keywords = {
    "",           "process",  "thread",         "pid",         "tid",       "started_process",
    "image_name", "hex",      "nt_status",      "win32_error", "code",      "ipv4",
    "ipv6",       "port",     "socket_address", "system_call", "name_hash", "arguments",
    "etw_event",  "encrypted"};
static_assert(meaning_keywords.size() == static_cast<std::size_t>(FieldMeaning::encrypted) + 1);

template <class T, std::size_t Size>
std::optional<T> find(const std::array<std::string_view, Size>& keywords, std::string_view word) {
  const auto found = std::find(keywords.begin(), keywords.end(), word);
  if (found == keywords.end() || word.empty()) return std::nullopt;
  return static_cast<T>(found - keywords.begin());
}

template <class T>
const T* find_named(const std::vector<T>& list, std::string_view name) {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const T& one) { return one.name == name; });
  return found == list.end() ? nullptr : &*found;
}

void append_description(std::string& text, std::string_view description) {
  if (!description.empty()) text += fmt::format(" \"{}\"", description);
}

void append_field(std::string& text, const FieldDeclaration& field) {
  text += fmt::format("  {}", keyword_of(field.type));
  if (!field.type_name.empty()) text += " " + field.type_name;
  text += " " + field.name;
  switch (field.amount.kind) {
    case FieldAmount::Kind::none:
      break;
    case FieldAmount::Kind::fixed:
      text += fmt::format("[{}]", field.amount.number);
      break;
    case FieldAmount::Kind::counted:
      text += fmt::format("[{}]", field.amount.counter);
      break;
    case FieldAmount::Kind::rest:
      text += "[]";
      break;
  }
  if (field.meaning != FieldMeaning::none) text += fmt::format(" is {}", keyword_of(field.meaning));
  if (!field.unit.empty()) text += fmt::format(" unit \"{}\"", field.unit);
  append_description(text, field.description);
  text += ";\n";
}

void append_enum(std::string& text, const EnumDeclaration& declaration) {
  text += fmt::format("\n{} {} : {}", declaration.bits ? "flags" : "enum", declaration.name,
                      keyword_of(declaration.base));
  append_description(text, declaration.description);
  text += " {\n";
  for (const auto& entry : declaration.entries) {
    text += fmt::format(
        "  {} = {}{}", entry.name, declaration.bits ? "0x" : "",
        declaration.bits ? fmt::format("{:x}", entry.value) : fmt::format("{}", entry.value));
    append_description(text, entry.description);
    text += ",\n";
  }
  text += "}\n";
}

}  // namespace

std::string_view keyword_of(FieldType type) {
  return type_keywords[static_cast<std::size_t>(type)];
}

std::string_view keyword_of(FieldMeaning meaning) {
  return meaning_keywords[static_cast<std::size_t>(meaning)];
}

std::optional<FieldType> find_type(std::string_view keyword) {
  return find<FieldType>(type_keywords, keyword);
}

std::optional<FieldMeaning> find_meaning(std::string_view keyword) {
  return find<FieldMeaning>(meaning_keywords, keyword);
}

unsigned integer_size(FieldType type) {
  switch (type) {
    case FieldType::u8:
    case FieldType::i8:
      return 1;
    case FieldType::u16:
    case FieldType::i16:
      return 2;
    case FieldType::u32:
    case FieldType::i32:
      return 4;
    case FieldType::u64:
    case FieldType::i64:
      return 8;
    default:
      return 0;
  }
}

const EnumDeclaration* Schema::find_enum(std::string_view enum_name) const {
  return find_named(enums, enum_name);
}

const StructDeclaration* Schema::find_struct(std::string_view struct_name) const {
  return find_named(structs, struct_name);
}

std::string to_text(const std::vector<Schema>& schemas) {
  std::string text;
  for (const auto& schema : schemas) {
    if (!text.empty()) text += '\n';
    text += fmt::format("schema {} {{{}}}", schema.name, core::to_string(schema.guid));
    append_description(text, schema.description);
    text += ";\n";
    for (const auto& declaration : schema.enums) append_enum(text, declaration);
    for (const auto& declaration : schema.structs) {
      text += fmt::format("\nstruct {}", declaration.name);
      append_description(text, declaration.description);
      text += " {\n";
      for (const auto& field : declaration.fields) append_field(text, field);
      text += "}\n";
    }
    for (const auto& event : schema.events) {
      text += fmt::format("\nevent {} = {:#06x}", event.name, event.id);
      if (event.version != 0) text += fmt::format(" version {}", event.version);
      append_description(text, event.description);
      text += " {\n";
      for (const auto& field : event.fields) append_field(text, field);
      text += "}\n";
    }
  }
  return text;
}

}  // namespace coldtrace::tracefile
