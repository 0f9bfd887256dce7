#include "coldtrace/tracefile/messages/message_formats.hpp"

#include <algorithm>

#include "coldtrace/core/marked_text.hpp"
#include "coldtrace/core/text.hpp"
#include "tracefile/messages/message_items.hpp"
#include "tracefile/messages/tmf_reader.hpp"

namespace coldtrace::tracefile {
namespace {

// Texts are repeated with every message: in bytes, longer than those of real formats.
constexpr std::size_t longest_text = 16'384;
constexpr std::size_t longest_name = 1024;
constexpr std::size_t longest_value_name = 256;

// Formats of one key that differ.
constexpr std::size_t most_alternatives = 16;

std::string cut(std::string_view text, std::size_t longest) {
  return core::to_valid_utf8(text.substr(0, longest));
}

// The maps of an enumeration, made when they are asked for: many arguments share them.
struct Enumeration {
  const TmfEnumeration* values;
  std::shared_ptr<const ValueMap> names, bits;
};
using Enumerations = std::map<std::string_view, Enumeration>;

// Names that stand in the type, by their place.
std::shared_ptr<const ValueMap> map_of_list(std::string_view list, bool bits) {
  constexpr std::size_t most_bits = 32;
  auto map = std::make_shared<ValueMap>();
  map->bits = bits;
  for (u64 i = 0; !list.empty() && (!bits || i < most_bits); ++i) {
    const auto end = std::min(list.find(','), list.size());
    map->entries.push_back({bits ? u64{1} << i : i, cut(list.substr(0, end), longest_value_name)});
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return map;
}

std::shared_ptr<const ValueMap> map_of_enumeration(const TmfEnumeration& enumeration, bool bits) {
  auto map = std::make_shared<ValueMap>();
  map->name = cut(enumeration.name, longest_value_name);
  map->bits = bits;
  for (const auto& value : enumeration.values)
    map->entries.push_back({value.number & 0xffff'ffff, cut(value.name, longest_value_name)});
  map->sort();
  return map;
}

// The conversion by which the text first shows an argument.
char conversion_of(std::string_view text, unsigned number) {
  const auto insert = "%" + std::to_string(number) + "!";
  const auto at = text.find(insert);
  if (at == std::string_view::npos) return 's';
  const auto start = at + insert.size();
  return Conversion::parse(text.substr(start, text.find('!', start) - start)).type;
}

// As the conversion says: WPP gives unsigned numbers the item types of signed ones.
void set_number_type(FieldSchema& field, char conversion) {
  const bool is_hexadecimal = conversion == 'x' || conversion == 'X' || conversion == 'p';
  if (!is_hexadecimal && conversion != 'u') return;
  switch (field.in) {
    case InType::i8:
    case InType::u8:
      field.in = InType::u8;
      if (is_hexadecimal) field.out = OutType::hex8;
      break;
    case InType::i16:
    case InType::u16:
      field.in = InType::u16;
      if (is_hexadecimal) field.out = OutType::hex16;
      break;
    case InType::i32:
    case InType::u32:
      field.in = InType::u32;
      if (is_hexadecimal) field.out = OutType::hex32;
      break;
    default:
      field.in = InType::u64;
      if (is_hexadecimal) field.out = OutType::hex64;
      break;
  }
}

std::shared_ptr<const ValueMap> find_enumeration(Enumerations& enumerations, std::string_view name,
                                                 bool bits) {
  const auto found = enumerations.find(name);
  if (found == enumerations.end()) return nullptr;
  auto& map = bits ? found->second.bits : found->second.names;
  if (!map) map = map_of_enumeration(*found->second.values, bits);
  return map;
}

FieldSchema make_field(const TmfFormat::Argument& argument, const ItemType& type,
                       std::string_view text, Enumerations& enumerations) {
  FieldSchema field;
  field.name = cut(argument.expression, longest_name);
  field.in = type.in;
  field.out = type.out;
  if (type.size > 0) field.length = {FieldSchema::Rule::fixed, type.size};
  switch (type.item) {
    case MessageItem::number:
      set_number_type(field, conversion_of(text, argument.number));
      break;
    case MessageItem::list:
    case MessageItem::set:
      field.map = map_of_list(argument.list, type.item == MessageItem::set);
      break;
    case MessageItem::enumeration:
    case MessageItem::flags:
      field.map = find_enumeration(enumerations, argument.list, type.item == MessageItem::flags);
      break;
    default:
      break;
  }
  return field;
}

// Up to the first argument of a type that is not known, whose size is not known either.
EventSchema make_schema(const TmfFormat& format, Enumerations& enumerations,
                        const std::string& source, core::Findings& findings) {
  auto message = std::make_shared<TraceMessage>();
  message->component = cut(format.component, longest_name);
  message->source_file = cut(format.source_file, longest_name);
  message->tag = cut(format.tag, longest_name);
  message->function = cut(format.function, longest_name);
  message->level = cut(format.level, longest_name);
  message->flags = cut(format.flags, longest_name);
  EventSchema schema;
  schema.provider_name = message->component;
  schema.event_name = message->tag;
  schema.message = cut(format.text, longest_text);
  schema.source = source;
  for (const auto& argument : format.arguments) {
    const auto type = find_item_type(argument.type);
    if (!type) {
      findings.info("schema-element", std::nullopt,
                    "an argument of message {} of {} has the unknown item type {}", format.number,
                    core::to_string(format.guid), cut(argument.type, longest_value_name));
      break;
    }
    message->arguments.push_back({static_cast<u16>(argument.number), type->item});
    schema.fields.push_back(make_field(argument, *type, format.text, enumerations));
  }
  make_names_unique(schema.fields);
  schema.trace_message = std::move(message);
  return schema;
}

bool is_same(const EventSchema& a, const EventSchema& b) {
  const auto same_field = [](const FieldSchema& x, const FieldSchema& y) {
    return x.name == y.name && x.in == y.in && x.out == y.out;
  };
  return a.message == b.message &&
         std::equal(a.fields.begin(), a.fields.end(), b.fields.begin(), b.fields.end(), same_field);
}

}  // namespace

MessageFormats::MessageFormats(std::set<SchemaKey> wanted) : wanted_{std::move(wanted)} {
  std::erase_if(wanted_, [](const SchemaKey& key) { return !key.message; });
}

bool MessageFormats::is_likely(core::ByteView start) {
  const auto text = core::decode_marked_text(start).utf8;
  return text.find("\n#type") != std::string::npos || text.starts_with("// PDB:") ||
         (text.size() > 36 && core::parse_guid(std::string_view{text}.substr(0, 36)) &&
          text.find("// SRC=") != std::string::npos);
}

u64 MessageFormats::add(core::ByteView bytes, const std::string& source, core::Findings& findings) {
  // Of Windows they are ASCII; editors make UTF-8 and UTF-16 of them.
  const auto file = core::decode_marked_text(bytes);
  if (file.invalid > 0)
    findings.warning("schema-damaged", file.first_invalid, "{}", core::describe_invalid(file));
  return add(file.utf8, &file, '\n', {}, source, findings);
}

u64 MessageFormats::add_annotations(std::string_view lines, const FlagNames& flags,
                                    const std::string& source, core::Findings& findings) {
  return add(lines, nullptr, '\0', flags, source, findings);
}

u64 MessageFormats::add(std::string_view text, const core::MarkedText* file, char separator,
                        const FlagNames& flags, const std::string& source,
                        core::Findings& findings) {
  const auto read = read_tmf(text, file, separator, flags, findings);
  Enumerations enumerations;
  for (const auto& enumeration : read.enumerations)
    enumerations.try_emplace(enumeration.name, Enumeration{&enumeration, nullptr, nullptr});
  u64 added = 0;
  for (const auto& format : read.formats) {
    const SchemaKey key{format.guid, static_cast<u16>(format.number), 0, false, true};
    if (wanted_.contains(key) &&
        add(key, make_schema(format, enumerations, source, findings), findings))
      ++added;
  }
  return added;
}

bool MessageFormats::add(const SchemaKey& key, EventSchema schema, core::Findings& findings) {
  auto& known = formats_[key];
  for (const auto& other : known)
    if (is_same(*other, schema)) return false;
  if (!known.empty())
    findings.warning("schema-conflict", std::nullopt,
                     "message {} of {} is a different one in {} than in {}, which takes precedence",
                     key.id, core::to_string(key.provider), schema.source, known.front()->source);
  if (known.size() == most_alternatives) return false;
  known.push_back(std::make_shared<const EventSchema>(std::move(schema)));
  return true;
}

std::shared_ptr<const EventSchema> MessageFormats::find(const SchemaKey& key) const {
  const auto found = formats_.find(key);
  return found == formats_.end() ? nullptr : found->second.front();
}

std::vector<std::shared_ptr<const EventSchema>> MessageFormats::find_others(
    const SchemaKey& key) const {
  const auto found = formats_.find(key);
  if (found == formats_.end()) return {};
  return {found->second.begin() + 1, found->second.end()};
}

}  // namespace coldtrace::tracefile
