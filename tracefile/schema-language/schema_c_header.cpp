#include "coldtrace/tracefile/schema-language/schema_c_header.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "coldtrace/core/ascii.hpp"
#include "coldtrace/tracefile/schema-language/schema_layout.hpp"

namespace coldtrace::tracefile {
namespace {

bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool is_lower_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

// "ContextSwitch" and "IRPMajor" become "context_switch" and "irp_major".
std::string snake_case(std::string_view name) {
  std::string text;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool starts_word =
        i > 0 && is_upper(name[i]) &&
        (is_lower_or_digit(name[i - 1]) ||
         (is_upper(name[i - 1]) && i + 1 < name.size() && is_lower_or_digit(name[i + 1])));
    if (starts_word) text += '_';
    text += core::to_lower(name[i]);
  }
  return text;
}

std::string_view c_type(FieldType type) {
  switch (type) {
    case FieldType::u16:
    case FieldType::i16:
    case FieldType::utf16:
      return "coldtrace_u16";
    case FieldType::u32:
    case FieldType::i32:
    case FieldType::bool32:
      return "coldtrace_u32";
    case FieldType::u64:
    case FieldType::i64:
    case FieldType::file_time:
      return "coldtrace_u64";
    case FieldType::pointer:
    case FieldType::size:
      return "coldtrace_word";
    default:
      return "coldtrace_u8";
  }
}

// Text inside a comment cannot end it.
std::string comment_text(std::string_view text) {
  std::string made;
  for (const char c : text) {
    if (c == '/' && !made.empty() && made.back() == '*') made += ' ';
    made += c;
  }
  return made;
}

class HeaderWriter {
 public:
  explicit HeaderWriter(const Schema& schema) : schema_{schema} {}

  std::string write() {
    std::string title = schema_.name;
    if (!schema_.description.empty()) title += ": " + schema_.description;
    text_ += fmt::format("\n/* {} */\n", comment_text(title));
    for (const auto& declaration : schema_.enums) {
      text_ += '\n';
      for (const auto& entry : declaration.entries)
        text_ += fmt::format("#define {} 0x{:x}U{}\n",
                             c_constant(fmt::format("{}_{}", c_name(schema_, declaration.name),
                                                    snake_case(entry.name))),
                             entry.value, entry.value > 0xffff'ffff ? "LL" : "");
    }
    for (const auto& declaration : schema_.structs)
      structure(c_name(schema_, declaration.name), declaration.fields, declaration.description);
    for (const auto& event : schema_.events) {
      const auto name = c_name(schema_, event.name, event.version);
      text_ += fmt::format("\n#define {} {:#06x} /* version {} */\n", c_constant(name), event.id,
                           event.version);
      structure(name, event.fields, event.description);
    }
    return std::move(text_);
  }

 private:
  void structure(const std::string& name, const std::vector<FieldDeclaration>& fields,
                 const std::string& description) {
    if (!description.empty()) text_ += fmt::format("/* {} */\n", comment_text(description));
    const auto layout = compute_layout(schema_, fields, 8);
    if (layout.fixed_size == 0) {
      text_ += fmt::format("/* {} has no field of a fixed size in front. */\n", name);
    } else {
      text_ += "typedef struct {\n";
      for (std::size_t i = 0; i < fields.size(); ++i)
        if (layout.fields[i].offset && layout.fields[i].size) member(fields[i]);
      text_ += fmt::format("}} {};\n", name);
    }
    for (std::size_t i = 0; i < fields.size(); ++i)
      if (!layout.fields[i].offset || !layout.fields[i].size) behind(fields[i]);
  }

  void member(const FieldDeclaration& field) {
    text_ += fmt::format("  {} {}", type_of(field), c_member(field.name));
    if (field.amount.kind == FieldAmount::Kind::fixed)
      text_ += fmt::format("[{}]", field.amount.number);
    else if (field.type == FieldType::guid)
      text_ += "[16]";
    if (field.type == FieldType::guid && field.amount.kind == FieldAmount::Kind::fixed)
      text_ += "[16]";
    text_ += ';';
    comment(field);
  }

  void behind(const FieldDeclaration& field) {
    text_ += fmt::format("/* then: {} {} {}", keyword_of(field.type), field.type_name, field.name);
    if (field.amount.kind == FieldAmount::Kind::counted)
      text_ += fmt::format("[{}]", field.amount.counter);
    else if (field.amount.kind == FieldAmount::Kind::fixed)
      text_ += fmt::format("[{}]", field.amount.number);
    else if (field.amount.kind == FieldAmount::Kind::rest)
      text_ += "[]";
    text_ += " */\n";
  }

  std::string type_of(const FieldDeclaration& field) const {
    if (field.type == FieldType::structure) return c_name(schema_, field.type_name);
    if (field.type == FieldType::enumeration || field.type == FieldType::flags)
      return std::string{c_type(schema_.find_enum(field.type_name)->base)};
    return std::string{c_type(field.type)};
  }

  void comment(const FieldDeclaration& field) {
    std::string remark = field.description;
    if (!field.unit.empty()) {
      if (!remark.empty()) remark += ", ";
      remark += field.unit;
    }
    if (!remark.empty()) text_ += fmt::format(" /* {} */", comment_text(remark));
    text_ += '\n';
  }

  const Schema& schema_;
  std::string text_;
};

}  // namespace

std::string c_name(const Schema& schema, std::string_view name, u8 version) {
  auto text = fmt::format("{}_{}", snake_case(schema.name), snake_case(name));
  if (version != 0) text += fmt::format("_v{}", version);
  return text;
}

std::string c_constant(std::string_view name) {
  std::string text{name};
  std::transform(text.begin(), text.end(), text.begin(), core::to_upper);
  return text;
}

std::string c_member(std::string_view name) {
  // Keywords that a schema's field could be called, of C and of C++.
  constexpr auto words = std::to_array<std::string_view>(
      {"auto",     "break",    "case",     "char",     "class",   "const",  "continue", "default",
       "delete",   "do",       "double",   "else",     "enum",    "export", "extern",   "float",
       "for",      "friend",   "goto",     "if",       "inline",  "int",    "long",     "namespace",
       "new",      "operator", "private",  "register", "return",  "short",  "signed",   "sizeof",
       "static",   "struct",   "switch",   "template", "this",    "throw",  "try",      "typedef",
       "typename", "union",    "unsigned", "using",    "virtual", "void",   "volatile", "while",
       "bool",     "true",     "false",    "public",   "and",     "or",     "not",      "xor"});
  const bool reserved = std::find(words.begin(), words.end(), name) != words.end();
  std::string text{name};
  if (reserved) text += '_';
  return text;
}

std::string to_c_header(const std::vector<Schema>& schemas) {
  std::string text =
      "/* Made by coldtrace trace schema c-header. Fields lie without padding. */\n"
      "#ifndef COLDTRACE_SCHEMAS_H\n#define COLDTRACE_SCHEMAS_H\n\n"
      "#include <coldtrace/trace_writer.h>\n\n#pragma pack(push, 1)\n";
  for (const auto& schema : schemas) text += HeaderWriter{schema}.write();
  return text + "\n#pragma pack(pop)\n\n#endif\n";
}

}  // namespace coldtrace::tracefile
