#include "tracefile/schema-language/schema_builder.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "coldtrace/core/text.hpp"
#include "coldtrace/tracefile/fields/field_schema.hpp"
#include "coldtrace/tracefile/schema-language/schema_layout.hpp"

namespace coldtrace::tracefile {
namespace {

using Error = SchemaBuilder::Error;
using Kind = FieldAmount::Kind;

constexpr std::size_t most_types = 4096;  // of a schema
constexpr u64 most_bytes = 0xffff;        // of the data of an entry

[[noreturn]] void fail(std::string_view at, std::string message) {
  throw Error{at.data(), std::move(message)};
}

u64 to_number(std::string_view text, u64 most) {
  const bool hex = text.starts_with("0x");
  const auto digits = hex ? text.substr(2) : text;
  u64 number = 0;
  const auto result =
      std::from_chars(digits.data(), digits.data() + digits.size(), number, hex ? 16 : 10);
  if (result.ec != std::errc{} || number > most)
    fail(text, fmt::format("{} is more than {}", text, most));
  return number;
}

std::string unquoted(std::string_view quoted) {
  const auto text = quoted.substr(1, quoted.size() - 2);
  if (!core::is_valid_utf8(text)) fail(quoted, "the text is not valid UTF-8");
  return std::string{text};
}

bool is_text(FieldType type) {
  return type == FieldType::ansi || type == FieldType::utf16 || type == FieldType::counted_ansi ||
         type == FieldType::counted_utf16;
}

bool is_counted(FieldType type) {
  return type == FieldType::counted_ansi || type == FieldType::counted_utf16 ||
         type == FieldType::counted_bytes;
}

u64 largest_of(FieldType base) {
  const auto size = integer_size(base);
  return size == 8 ? ~u64{0} : (u64{1} << 8 * size) - 1;
}

}  // namespace

void SchemaBuilder::begin_schema(std::string_view name) {
  if (!schema_names_.emplace(name).second) fail(name, fmt::format("a second schema {}", name));
  schemas_.emplace_back();
  schema().name = name;
  type_names_.clear();
  weights_.clear();
  event_ids_.clear();
  in_ = In::schema;
  description_ = &schema().description;
}

void SchemaBuilder::set_guid(std::string_view guid) {
  const auto parsed = core::parse_guid(guid.substr(1, guid.size() - 2));
  if (!parsed) fail(guid, "this is not a GUID like {01234567-89ab-cdef-0123-456789abcdef}");
  for (const auto& other : schemas_)
    if (other.guid == *parsed && &other != &schema())
      fail(guid, fmt::format("schema {} has the same GUID", other.name));
  schema().guid = *parsed;
}

void SchemaBuilder::describe(std::string_view quoted) {
  *description_ = unquoted(quoted);
}

void SchemaBuilder::begin_declaration(std::string_view name) {
  declared_at_ = name;
  entry_names_.clear();
  entry_values_.clear();
  weight_ = {0, 0};
  fixed_bytes_ = 0;
}

void SchemaBuilder::add_type(std::string_view name) {
  if (!type_names_.emplace(name).second) fail(name, fmt::format("a second type {}", name));
  if (type_names_.size() > most_types) fail(name, fmt::format("more than {} types", most_types));
}

void SchemaBuilder::begin_values(std::string_view name, bool bits) {
  begin_declaration(name);
  add_type(name);
  in_ = In::values;
  schema().enums.emplace_back();
  schema().enums.back().name = name;
  schema().enums.back().bits = bits;
  description_ = &schema().enums.back().description;
}

void SchemaBuilder::begin_enum(std::string_view name) {
  begin_values(name, false);
}
void SchemaBuilder::begin_flags(std::string_view name) {
  begin_values(name, true);
}

void SchemaBuilder::set_base(std::string_view keyword) {
  schema().enums.back().base = *find_type(keyword);
}

void SchemaBuilder::add_entry(std::string_view name) {
  if (!entry_names_.emplace(name).second) fail(name, fmt::format("a second value {}", name));
  schema().enums.back().entries.push_back({std::string{name}, 0, {}});
}

void SchemaBuilder::set_entry_value(std::string_view number) {
  auto& declaration = schema().enums.back();
  const auto value = to_number(number, largest_of(declaration.base));
  if (!entry_values_.insert(value).second)
    fail(number, fmt::format("{} has another name already", number));
  if (declaration.bits && value == 0) fail(number, "0 is not a bit");
  declaration.entries.back().value = value;
}

void SchemaBuilder::describe_entry(std::string_view quoted) {
  schema().enums.back().entries.back().description = unquoted(quoted);
}

void SchemaBuilder::begin_struct(std::string_view name) {
  begin_declaration(name);
  add_type(name);
  in_ = In::structure;
  schema().structs.emplace_back();
  schema().structs.back().name = name;
  description_ = &schema().structs.back().description;
}

void SchemaBuilder::begin_event(std::string_view name) {
  begin_declaration(name);
  in_ = In::event;
  schema().events.emplace_back();
  schema().events.back().name = name;
  description_ = &schema().events.back().description;
}

void SchemaBuilder::set_id(std::string_view number) {
  id_at_ = number;
  schema().events.back().id = static_cast<u16>(to_number(number, 0xffff));
}

void SchemaBuilder::set_version(std::string_view number) {
  schema().events.back().version = static_cast<u8>(to_number(number, 0xff));
}

void SchemaBuilder::end_event_head(std::string_view) {
  const auto& event = schema().events.back();
  // Entries of a trace name their event by id and version alone, whatever its schema.
  const auto& names = id_names_.try_emplace(event.id, schema().name, event.name).first->second;
  if (names != std::pair{schema().name, event.name})
    fail(id_at_, fmt::format("{:#06x} is {} of schema {}", event.id, names.second, names.first));
  if (!ids_.emplace(event.id, event.version).second)
    fail(id_at_, fmt::format("a second {} of version {}", event.name, event.version));
  const auto known = event_ids_.try_emplace(event.name, event.id).first->second;
  if (known != event.id)
    fail(declared_at_, fmt::format("{} is {:#06x} as well", event.name, known));
}

void SchemaBuilder::end_declaration(std::string_view) {
  if (in_ == In::values && schema().enums.back().entries.empty())
    fail(declared_at_, fmt::format("{} has no value", declared_at_));
  if (in_ == In::structure) {
    if (fields().empty()) fail(declared_at_, fmt::format("{} has no field", declared_at_));
    weights_[std::string{declared_at_}] = {weight_.fields, weight_.depth + 1};
  }
}

std::vector<FieldDeclaration>& SchemaBuilder::fields() {
  return in_ == In::event ? schema().events.back().fields : schema().structs.back().fields;
}

void SchemaBuilder::begin_field(std::string_view type) {
  field_ = {};
  field_.type = *find_type(type);
  type_at_ = type;
  amount_at_ = meaning_at_ = {};
  if (!fields().empty() && fields().back().amount.kind == Kind::rest)
    fail(type, fmt::format("{} has all the rest: no field can follow", fields().back().name));
}

void SchemaBuilder::set_type_name(std::string_view name) {
  field_.type_name = name;
  if (field_.type == FieldType::structure) {
    const auto weight = weights_.find(field_.type_name);
    if (weight == weights_.end()) fail(name, fmt::format("no struct {} before this", name));
    weight_.fields += weight->second.fields;
    weight_.depth = std::max(weight_.depth, weight->second.depth);
    if (weight_.depth >= deepest_structure)
      fail(name, fmt::format("more than {} structs inside each other", deepest_structure - 1));
    return;
  }
  const auto* declaration = schema().find_enum(name);
  if (declaration == nullptr || declaration->bits != (field_.type == FieldType::flags))
    fail(name, fmt::format("no {} {} before this", keyword_of(field_.type), name));
}

void SchemaBuilder::set_field_name(std::string_view name) {
  if (!entry_names_.emplace(name).second) fail(name, fmt::format("a second field {}", name));
  field_.name = name;
  name_at_ = name;
}

void SchemaBuilder::set_amount(std::string_view bracketed) {
  amount_at_ = bracketed;
  auto inside = bracketed.substr(1, bracketed.size() - 2);
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
  while (!inside.empty() && blank(inside.front())) inside.remove_prefix(1);
  while (!inside.empty() && blank(inside.back())) inside.remove_suffix(1);
  if (inside.empty()) {
    field_.amount.kind = Kind::rest;
  } else if (inside.front() >= '0' && inside.front() <= '9') {
    field_.amount.kind = Kind::fixed;
    field_.amount.number = static_cast<u16>(to_number(inside, 0xffff));
    if (field_.amount.number == 0) fail(inside, "an amount of 0");
  } else {
    field_.amount.kind = Kind::counted;
    field_.amount.counter = inside;
    amount_at_ = inside;
  }
}

void SchemaBuilder::set_meaning(std::string_view keyword) {
  meaning_at_ = keyword;
  const auto meaning = find_meaning(keyword);
  if (!meaning) fail(keyword, fmt::format("{} is not a meaning", keyword));
  field_.meaning = *meaning;
}

void SchemaBuilder::set_unit(std::string_view quoted) {
  field_.unit = unquoted(quoted);
  if (field_.unit.empty()) fail(quoted, "an empty unit");
}

void SchemaBuilder::describe_field(std::string_view quoted) {
  field_.description = unquoted(quoted);
}

void SchemaBuilder::check_counter() {
  const auto& name = field_.amount.counter;
  const auto counter = std::find_if(fields().begin(), fields().end(),
                                    [&](const auto& field) { return field.name == name; });
  if (counter == fields().end()) fail(amount_at_, fmt::format("no field {} before this", name));
  const bool is_unsigned = counter->type <= FieldType::u64;
  if (!is_unsigned || counter->amount.kind != Kind::none)
    fail(amount_at_, fmt::format("{} is not one unsigned integer", name));
}

void SchemaBuilder::check_amount() {
  const auto kind = field_.amount.kind;
  if (kind == Kind::none) {
    if (field_.type == FieldType::bytes) fail(name_at_, "bytes need an amount, as in NAME[16]");
    return;
  }
  if (is_counted(field_.type))
    fail(amount_at_, fmt::format("{} has its own count", keyword_of(field_.type)));
  if (kind == Kind::rest && in_ == In::structure)
    fail(amount_at_, "a struct cannot have all the rest");
  if (kind == Kind::counted) check_counter();
}

void SchemaBuilder::check_meaning() {
  const auto type = field_.type;
  const bool one_u32 = type == FieldType::u32 && field_.amount.kind == Kind::none;
  const auto need = [&](bool condition, std::string_view what) {
    if (!condition)
      fail(meaning_at_, fmt::format("{} must be {}", keyword_of(field_.meaning), what));
  };
  const bool is_bytes = type == FieldType::bytes || type == FieldType::counted_bytes;
  switch (field_.meaning) {
    case FieldMeaning::none:
      break;
    case FieldMeaning::process:
    case FieldMeaning::thread:
    case FieldMeaning::started_process:
    case FieldMeaning::image_name:
      if (field_.meaning == FieldMeaning::image_name)
        need(is_text(type), "text");
      else
        need(one_u32, "one u32");
      if (in_ != In::event) fail(meaning_at_, "this is the event's own and cannot be in a struct");
      for (const auto& other : fields())
        if (other.meaning == field_.meaning)
          fail(meaning_at_, fmt::format("{} has this meaning already", other.name));
      // Readers take them from where they are without decoding what is before.
      if (field_.meaning != FieldMeaning::image_name)
        need(compute_layout(schema(), fields(), 8).size.has_value(),
             "before fields whose size depends on the data");
      break;
    case FieldMeaning::pid:
    case FieldMeaning::tid:
    case FieldMeaning::nt_status:
    case FieldMeaning::win32_error:
    case FieldMeaning::name_hash:
    case FieldMeaning::ipv4:
    case FieldMeaning::system_call:
      need(type == FieldType::u32, "u32");
      break;
    case FieldMeaning::hex:
      need(type <= FieldType::u64, "u8, u16, u32 or u64");
      break;
    case FieldMeaning::port:
      need(type == FieldType::u16, "u16");
      break;
    case FieldMeaning::code:
      need(type == FieldType::pointer, "a pointer");
      break;
    case FieldMeaning::ipv6:
      need(type == FieldType::bytes && field_.amount.number == 16, "bytes of 16");
      break;
    case FieldMeaning::arguments:
      need((type == FieldType::u32 || type == FieldType::u64 || type == FieldType::pointer ||
            type == FieldType::size) &&
               field_.amount.kind != FieldAmount::Kind::none,
           "an array of u32, u64, pointer or size");
      break;
    case FieldMeaning::socket_address:
    case FieldMeaning::etw_event:
    case FieldMeaning::encrypted:
      need(is_bytes, "bytes or counted_bytes");
      break;
  }
}

void SchemaBuilder::end_field(std::string_view) {
  check_amount();
  check_meaning();
  if (++weight_.fields > most_fields)
    fail(type_at_, fmt::format("more than {} fields, with those of structs", most_fields));
  fields().push_back(std::move(field_));
  fixed_bytes_ += size_of(schema(), fields().back(), 8).value_or(0);
  if (fixed_bytes_ > most_bytes)
    fail(name_at_, fmt::format("{} bytes: an event has at most {}", fixed_bytes_, most_bytes));
}

}  // namespace coldtrace::tracefile
