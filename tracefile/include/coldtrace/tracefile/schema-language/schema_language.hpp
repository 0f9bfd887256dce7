#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/guid.hpp"

namespace coldtrace::tracefile {

// What a schema text (docs/languages/trace-schema.md) declares. Texts that are equal except for
// blanks and comments have equal declarations.

// The types of fields, in the order of their keywords in schema_language.cpp.
enum class FieldType : u8 {
  u8,
  u16,
  u32,
  u64,
  i8,
  i16,
  i32,
  i64,
  boolean,
  bool32,
  pointer,
  size,
  guid,
  sid,
  file_time,
  ansi,
  utf16,
  counted_ansi,
  counted_utf16,
  bytes,
  counted_bytes,
  enumeration,  // `type_name` names it, as it does those below
  flags,
  structure,
};

// What a value stands for, besides its type.
enum class FieldMeaning : u8 {
  none,
  process,  // the event's own process and thread
  thread,
  pid,  // others
  tid,
  started_process,  // the process that begins here, and the name of its image
  image_name,
  hex,
  nt_status,
  win32_error,
  code,  // address of an instruction
  ipv4,
  ipv6,
  port,
  socket_address,
  system_call,  // service number
  name_hash,    // of a service, as KiServicesTab has it
  arguments,    // of the service that the event names
  etw_event,    // bytes of one event as ETW has it in its buffers
  encrypted,    // never shown
};

// How many units a field has.
struct FieldAmount {
  enum class Kind : u8 { none, fixed, counted, rest };
  Kind kind = Kind::none;
  u16 number = 0;       // of fixed
  std::string counter;  // for counted: the name of a field before it
  friend bool operator==(const FieldAmount&, const FieldAmount&) = default;
};

// A field of an event or structure.
struct FieldDeclaration {
  FieldType type = FieldType::u8;
  std::string type_name;
  std::string name;
  FieldAmount amount;  // units of text, bytes, elements of everything else
  FieldMeaning meaning = FieldMeaning::none;
  std::string unit;
  std::string description;
  friend bool operator==(const FieldDeclaration&, const FieldDeclaration&) = default;
};

// Names of values, or of bits.
struct EnumDeclaration {
  struct Entry {
    std::string name;
    u64 value = 0;
    std::string description;
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  std::string name;
  bool bits = false;
  FieldType base = FieldType::u32;
  std::string description;
  std::vector<Entry> entries;
  friend bool operator==(const EnumDeclaration&, const EnumDeclaration&) = default;
};

// Fields that several events share.
struct StructDeclaration {
  std::string name;
  std::string description;
  std::vector<FieldDeclaration> fields;
  friend bool operator==(const StructDeclaration&, const StructDeclaration&) = default;
};

// An event, by its id and version.
struct EventDeclaration {
  std::string name;
  u16 id = 0;
  u8 version = 0;
  std::string description;
  std::vector<FieldDeclaration> fields;
  friend bool operator==(const EventDeclaration&, const EventDeclaration&) = default;
};

// All that a provider declares.
struct Schema {
  std::string name;
  core::Guid guid;
  std::string description;
  std::vector<EnumDeclaration> enums;
  std::vector<StructDeclaration> structs;
  std::vector<EventDeclaration> events;
  friend bool operator==(const Schema&, const Schema&) = default;

  // By their names; null where there is none.
  [[nodiscard]] const EnumDeclaration* find_enum(std::string_view enum_name) const;
  [[nodiscard]] const StructDeclaration* find_struct(std::string_view struct_name) const;
};

constexpr std::size_t largest_schema_text = 1 << 20;

// The words of the language. Types that need a name after them have their keyword too.
[[nodiscard]] std::string_view keyword_of(FieldType type);
[[nodiscard]] std::string_view keyword_of(FieldMeaning meaning);  // empty for none
[[nodiscard]] std::optional<FieldType> find_type(std::string_view keyword);
[[nodiscard]] std::optional<FieldMeaning> find_meaning(std::string_view keyword);

// Bytes of one integer of the type, 0 of other types.
[[nodiscard]] unsigned integer_size(FieldType type);

// Text of the declarations that parse_schemas() reads back as the same.
[[nodiscard]] std::string to_text(const std::vector<Schema>& schemas);

}  // namespace coldtrace::tracefile
