#include "coldtrace/tracefile/schema-language/schema_compiler.hpp"

#include <algorithm>
#include <map>

#include "coldtrace/tracefile/schema-language/schema_layout.hpp"

namespace coldtrace::tracefile {
namespace {

using Kind = FieldAmount::Kind;
using Rule = FieldSchema::Rule;

InType integer_type(FieldType base) {
  switch (integer_size(base)) {
    case 1:
      return InType::u8;
    case 2:
      return InType::u16;
    case 4:
      return InType::u32;
    default:
      return InType::u64;
  }
}

InType in_type_of(const FieldDeclaration& field) {
  const bool rest = field.amount.kind == Kind::rest;
  switch (field.type) {
    case FieldType::u8:
      return InType::u8;
    case FieldType::u16:
      return InType::u16;
    case FieldType::u32:
      return InType::u32;
    case FieldType::u64:
      return InType::u64;
    case FieldType::i8:
      return InType::i8;
    case FieldType::i16:
      return InType::i16;
    case FieldType::i32:
      return InType::i32;
    case FieldType::i64:
      return InType::i64;
    case FieldType::boolean:
      return InType::bool8;
    case FieldType::bool32:
      return InType::bool32;
    case FieldType::pointer:
      return InType::pointer;
    case FieldType::size:
      return InType::size;
    case FieldType::guid:
      return InType::guid;
    case FieldType::sid:
      return InType::sid;
    case FieldType::file_time:
      return InType::file_time;
    case FieldType::ansi:
      return rest ? InType::unterminated_ansi : InType::ansi;
    case FieldType::utf16:
      return rest ? InType::unterminated_utf16 : InType::utf16;
    case FieldType::counted_ansi:
      return InType::counted_ansi;
    case FieldType::counted_utf16:
      return InType::counted_utf16;
    case FieldType::bytes:
      return InType::binary;
    case FieldType::counted_bytes:
      return InType::counted_binary;
    case FieldType::structure:
      return InType::structure;
    case FieldType::enumeration:
    case FieldType::flags:
      break;
  }
  return InType::null;
}

OutType out_type_of(const FieldDeclaration& field) {
  switch (field.meaning) {
    case FieldMeaning::process:
    case FieldMeaning::pid:
    case FieldMeaning::started_process:
      return OutType::pid;
    case FieldMeaning::thread:
    case FieldMeaning::tid:
      return OutType::tid;
    case FieldMeaning::hex:
      return OutType::hex64;
    case FieldMeaning::nt_status:
      return OutType::nt_status;
    case FieldMeaning::win32_error:
      return OutType::win32_error;
    case FieldMeaning::code:
      return OutType::code_pointer;
    case FieldMeaning::ipv4:
      return OutType::ipv4;
    case FieldMeaning::ipv6:
      return OutType::ipv6;
    case FieldMeaning::port:
      return OutType::port;
    case FieldMeaning::socket_address:
      return OutType::socket_address;
    case FieldMeaning::system_call:
      return OutType::system_call;
    case FieldMeaning::name_hash:
      return OutType::name_hash;
    case FieldMeaning::arguments:
      return OutType::call_argument;
    case FieldMeaning::etw_event:
      return OutType::etw_event;
    case FieldMeaning::encrypted:
      return OutType::encrypted;
    case FieldMeaning::none:
    case FieldMeaning::image_name:
      break;
  }
  return OutType::none;
}

// Makes the fields of one event; structures are expanded where they are used.
class FieldCompiler {
 public:
  FieldCompiler(const Schema& schema, EventSchema& event) : schema_{schema}, event_{event} {
    for (const auto& declaration : schema.enums) {
      auto map = std::make_shared<ValueMap>();
      map->name = declaration.name;
      map->bits = declaration.bits;
      for (const auto& entry : declaration.entries)
        map->entries.push_back({entry.value, entry.name});
      map->sort();
      maps_[declaration.name] = std::move(map);
    }
  }

  void compile(const EventDeclaration& event) {
    event_.slots = 0;
    event_.fields = fields(event.fields);
  }

 private:
  std::vector<FieldSchema> fields(const std::vector<FieldDeclaration>& declared) {
    std::map<std::string, u16> slots;
    for (const auto& field : declared)
      if (field.amount.kind == Kind::counted) slots.emplace(field.amount.counter, u16{0});
    std::vector<FieldSchema> made;
    for (const auto& field : declared) {
      made.push_back(compile(field, slots));
      const auto slot = slots.find(field.name);
      if (slot == slots.end()) continue;
      // Beyond the last slot counters share it: no schema that fits an event has so many.
      if (event_.slots < EventSchema::largest_slot) ++event_.slots;
      slot->second = made.back().slot = event_.slots;
    }
    return made;
  }

  FieldSchema compile(const FieldDeclaration& field, const std::map<std::string, u16>& slots) {
    FieldSchema made;
    made.name = field.name;
    made.plain_name = true;
    made.in = in_type_of(field);
    made.out = out_type_of(field);
    event_.encrypted |= field.meaning == FieldMeaning::encrypted;
    if (field.type == FieldType::enumeration || field.type == FieldType::flags) {
      made.map = maps_[field.type_name];
      made.in = integer_type(schema_.find_enum(field.type_name)->base);
      if (field.type == FieldType::flags) made.out = OutType::hex64;
    }
    if (field.type == FieldType::structure)
      made.members = fields(schema_.find_struct(field.type_name)->fields);
    const bool units = field.type == FieldType::ansi || field.type == FieldType::utf16 ||
                       field.type == FieldType::bytes;
    auto& amount = units ? made.length : made.count;
    switch (field.amount.kind) {
      case Kind::none:
        break;
      case Kind::fixed:
        amount = {Rule::fixed, field.amount.number};
        break;
      case Kind::counted:
        amount = {Rule::slot, slots.at(field.amount.counter)};
        break;
      case Kind::rest:
        amount = {Rule::rest, 0};
        break;
    }
    return made;
  }

  const Schema& schema_;
  EventSchema& event_;
  std::map<std::string, std::shared_ptr<const ValueMap>> maps_;
};

CompiledEvent compile_event(const Schema& schema, const EventDeclaration& event,
                            unsigned pointer_size) {
  CompiledEvent compiled{schema.guid, event.id, event.version, nullptr, {}, {}, {}, {}};
  auto made = std::make_shared<EventSchema>();
  made->provider_name = schema.name;
  made->event_name = event.name;
  made->message = event.description;
  FieldCompiler{schema, *made}.compile(event);
  compiled.schema = std::move(made);
  const auto layout = compute_layout(schema, event.fields, pointer_size);
  for (std::size_t i = 0; i < event.fields.size(); ++i) {
    const auto offset = layout.fields[i].offset;
    switch (event.fields[i].meaning) {
      case FieldMeaning::process:
        compiled.process_offset = offset;
        break;
      case FieldMeaning::thread:
        compiled.thread_offset = offset;
        break;
      case FieldMeaning::started_process:
        compiled.started_process_offset = offset;
        break;
      case FieldMeaning::image_name:
        compiled.image_name = static_cast<u32>(i);
        break;
      default:
        break;
    }
  }
  return compiled;
}

}  // namespace

CompiledSchemas::CompiledSchemas(const std::vector<Schema>& schemas, unsigned pointer_size) {
  for (const auto& schema : schemas)
    for (const auto& event : schema.events)
      events_.push_back(compile_event(schema, event, pointer_size));
  std::sort(events_.begin(), events_.end(), [](const CompiledEvent& a, const CompiledEvent& b) {
    return std::pair{a.id, a.version} < std::pair{b.id, b.version};
  });
  first_of_id_.assign(std::size_t{1} << 16, static_cast<u32>(events_.size()));
  for (auto i = events_.size(); i-- > 0;) first_of_id_[events_[i].id] = static_cast<u32>(i);
  for (const auto& event : events_)
    table_.add({event.provider, event.id, event.version, false}, *event.schema);
}

const CompiledEvent* CompiledSchemas::find_event(u16 id, u8 version) const {
  for (std::size_t i = first_of_id_[id]; i < events_.size() && events_[i].id == id; ++i)
    if (events_[i].version == version) return &events_[i];
  return nullptr;
}

bool CompiledSchemas::is_encrypted(u16 id) const {
  for (std::size_t i = first_of_id_[id]; i < events_.size() && events_[i].id == id; ++i)
    if (events_[i].schema->encrypted) return true;
  return false;
}

std::shared_ptr<const EventSchema> CompiledSchemas::find(const SchemaKey& key) const {
  return table_.find(key);
}

std::string_view CompiledSchemas::find_provider_name(const core::Guid& provider) const {
  return table_.find_provider_name(provider);
}

}  // namespace coldtrace::tracefile
