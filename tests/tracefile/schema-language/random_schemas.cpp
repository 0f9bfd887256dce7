#include "tests/tracefile/schema-language/random_schemas.hpp"

#include "coldtrace/tracefile/schema-language/schema_layout.hpp"

namespace coldtrace::test {

using namespace tracefile;
using Kind = FieldAmount::Kind;

std::string RandomSchemas::name(const char* prefix, std::size_t number) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
  std::string made = prefix;
  for (auto i = below(5); i > 0; --i) made += letters[below(sizeof letters - 1)];
  return made + std::to_string(number);
}

std::string RandomSchemas::text() {
  if (one_in(2)) return {};
  static const char* const parts[] = {"#", "/*", "*/", "}",     ";", "\\",
                                      " ", "\t", "ü",  "event", "0x"};
  std::string made;
  for (auto i = below(6); i > 0; --i) made += parts[below(std::size(parts))];
  return made;
}

EnumDeclaration RandomSchemas::make_enum(std::size_t number) {
  EnumDeclaration made;
  made.name = name("E", number);
  made.bits = one_in(2);
  made.base = static_cast<FieldType>(below(4));
  made.description = text();
  const u64 mask =
      made.base == FieldType::u64 ? ~u64{0} : (u64{1} << 8 * integer_size(made.base)) - 1;
  const auto count = 1 + below(6);
  for (std::size_t i = 0; i < count; ++i) {
    u64 value = random_() & mask;
    if (made.bits && value == 0) value = 1;
    bool known = false;
    for (const auto& other : made.entries) known |= other.value == value;
    if (!known) made.entries.push_back({name("v", i), value, text()});
  }
  return made;
}

FieldDeclaration RandomSchemas::make_field(const Schema& schema, const FieldList& before,
                                           bool in_event) {
  FieldDeclaration made;
  made.name = name(one_in(4) ? "_" : "f", before.size());
  made.description = text();
  if (one_in(4)) made.unit = "per cent";
  made.type = static_cast<FieldType>(below(static_cast<unsigned>(FieldType::structure) + 1));
  if (made.type == FieldType::structure) {
    if (schema.structs.empty())
      made.type = FieldType::guid;
    else
      made.type_name = schema.structs[below(static_cast<unsigned>(schema.structs.size()))].name;
  }
  if (made.type == FieldType::enumeration || made.type == FieldType::flags) {
    const auto& declaration = schema.enums[below(static_cast<unsigned>(schema.enums.size()))];
    made.type = declaration.bits ? FieldType::flags : FieldType::enumeration;
    made.type_name = declaration.name;
  }
  const bool counted = made.type == FieldType::counted_ansi ||
                       made.type == FieldType::counted_utf16 ||
                       made.type == FieldType::counted_bytes;
  if (!counted && (made.type == FieldType::bytes || one_in(3))) {
    made.amount = {Kind::fixed, static_cast<u16>(1 + below(9)), {}};
    for (const auto& field : before)
      if (field.type <= FieldType::u64 && field.amount.kind == Kind::none && one_in(3))
        made.amount = {Kind::counted, 0, field.name};
    if (in_event && one_in(8)) made.amount = {Kind::rest, 0, {}};
  }
  const bool bytes = made.type == FieldType::bytes || made.type == FieldType::counted_bytes;
  if (made.type == FieldType::u32 && one_in(2)) {
    constexpr FieldMeaning meanings[] = {FieldMeaning::pid,       FieldMeaning::tid,
                                         FieldMeaning::hex,       FieldMeaning::nt_status,
                                         FieldMeaning::ipv4,      FieldMeaning::win32_error,
                                         FieldMeaning::name_hash, FieldMeaning::system_call};
    made.meaning = meanings[below(std::size(meanings))];
  } else if (bytes && one_in(2)) {
    made.meaning = one_in(2) ? FieldMeaning::encrypted : FieldMeaning::etw_event;
  } else if (made.type == FieldType::u64 && made.amount.kind != Kind::none && one_in(2)) {
    made.meaning = FieldMeaning::arguments;
  } else if (made.type == FieldType::u16 && one_in(3)) {
    made.meaning = FieldMeaning::port;
  }
  return made;
}

RandomSchemas::FieldList RandomSchemas::make_fields(const Schema& schema, bool in_event) {
  FieldList made;
  if (in_event && one_in(2)) {
    made.push_back({FieldType::u32, {}, "process", {}, FieldMeaning::process, {}, {}});
    if (one_in(2)) made.push_back({FieldType::u32, {}, "thread", {}, FieldMeaning::thread, {}, {}});
  }
  for (auto i = 1 + below(6); i > 0; --i) {
    if (!made.empty() && made.back().amount.kind == Kind::rest) break;
    made.push_back(make_field(schema, made, in_event));
    // An event has 64 KiB, and structures of structures grow fast.
    if (compute_layout(schema, made, 8).fixed_size > 4000) made.pop_back();
  }
  if (made.empty()) made.push_back({FieldType::u8, {}, "only", {}, FieldMeaning::none, {}, {}});
  return made;
}

std::vector<Schema> RandomSchemas::make() {
  std::vector<Schema> schemas(1 + below(2));
  next_id_ = static_cast<u16>(below(0x8000));
  for (std::size_t i = 0; i < schemas.size(); ++i) {
    auto& schema = schemas[i];
    schema.name = name("s", i);
    for (auto& byte : schema.guid.bytes) byte = static_cast<std::byte>(random_());
    schema.description = text();
    for (auto n = 1 + below(3); n > 0; --n) schema.enums.push_back(make_enum(schema.enums.size()));
    for (auto n = below(4); n > 0; --n)
      schema.structs.push_back(
          {name("S", schema.structs.size()), text(), make_fields(schema, false)});
    for (auto n = below(4); n > 0; --n) {
      const auto event_name = name("X", schema.events.size());
      const auto id = next_id_++;
      for (u8 version = 0; version < 1 + below(2); ++version)
        schema.events.push_back({event_name, id, version, text(), make_fields(schema, true)});
    }
  }
  return schemas;
}

}  // namespace coldtrace::test
