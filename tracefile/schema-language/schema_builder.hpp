#pragma once

#include <set>
#include <unordered_map>
#include <utility>

#include "coldtrace/tracefile/schema-language/schema_language.hpp"

namespace coldtrace::tracefile {

// What the grammar calls, token by token in the order of the text: checks what a grammar cannot and
// puts the declarations together. Tokens are views of the text, so that an error knows its place.
class SchemaBuilder {
 public:
  // Ends the parse; caught where it began.
  struct Error {
    const char* where;
    std::string message;
  };

  void begin_schema(std::string_view name);
  void set_guid(std::string_view guid);
  void describe(std::string_view quoted);

  void begin_enum(std::string_view name);
  void begin_flags(std::string_view name);
  void set_base(std::string_view keyword);
  void add_entry(std::string_view name);
  void set_entry_value(std::string_view number);
  void describe_entry(std::string_view quoted);

  void begin_struct(std::string_view name);
  void begin_event(std::string_view name);
  void set_id(std::string_view number);
  void set_version(std::string_view number);
  void end_event_head(std::string_view brace);
  void end_declaration(std::string_view brace);

  void begin_field(std::string_view type);
  void set_type_name(std::string_view name);
  void set_field_name(std::string_view name);
  void set_amount(std::string_view bracketed);
  void set_meaning(std::string_view keyword);
  void set_unit(std::string_view quoted);
  void describe_field(std::string_view quoted);
  void end_field(std::string_view semicolon);

  std::vector<Schema> take() { return std::move(schemas_); }

 private:
  Schema& schema() { return schemas_.back(); }
  std::vector<FieldDeclaration>& fields();
  void begin_declaration(std::string_view name);
  void add_type(std::string_view name);
  void begin_values(std::string_view name, bool bits);
  void check_amount();
  void check_counter();
  void check_meaning();

  enum class In : u8 { schema, values, structure, event };
  // What a structure brings along when it is used.
  struct Weight {
    std::size_t fields;
    unsigned depth;
  };

  std::vector<Schema> schemas_;
  In in_ = In::schema;
  std::string* description_ = nullptr;
  std::string_view declared_at_;  // the declaration's name
  std::string_view id_at_;
  std::set<std::string, std::less<>> schema_names_;
  std::set<std::string, std::less<>> type_names_;   // of the current schema
  std::set<std::string, std::less<>> entry_names_;  // of the current enum, or fields of the rest
  std::set<u64> entry_values_;
  std::unordered_map<std::string, Weight> weights_;  // of structures of the current schema
  Weight weight_{};
  u64 fixed_bytes_ = 0;
  std::unordered_map<std::string, u16> event_ids_;                         // of the current schema
  std::set<std::pair<u16, u8>> ids_;                                       // of all schemas
  std::unordered_map<u16, std::pair<std::string, std::string>> id_names_;  // schema, event
  FieldDeclaration field_;
  std::string_view type_at_, name_at_, amount_at_, meaning_at_;
};

}  // namespace coldtrace::tracefile
