#include "schema-files/stored_field_flags.hpp"
#include "schema-files/stored_provider.hpp"

namespace coldtrace::schema_files {
namespace {

using tracefile::FieldSchema;
using tracefile::ProviderNames;
using tracefile::ValueMap;

class RecordWriter {
 public:
  void number(u64 value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<std::byte>(value | 0x80));
    bytes_.push_back(static_cast<std::byte>(value));
  }
  void append(const std::vector<std::byte>& other) {
    bytes_.insert(bytes_.end(), other.begin(), other.end());
  }
  void append(std::string_view text) {
    number(text.size());
    for (const char c : text) bytes_.push_back(static_cast<std::byte>(c));
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

class ProviderWriter {
 public:
  explicit ProviderWriter(RecordParts& parts)
      : texts_{parts.texts}, maps_{parts.maps}, layouts_{parts.layouts} {}

  std::vector<std::byte> write(tracefile::ProviderSchemas& declared, u32& events) {
    const bool has_base = texts_.add({}) == 0 && texts_.own().empty();
    RecordWriter head, tail;
    head.number(texts_.add(declared.name()));
    const auto& names = declared.names();
    for (const auto* list :
         {&names.levels, &names.tasks, &names.channels, &names.keywords, &names.opcodes})
      write_names(head, *list);
    events = 0;
    for (const auto& event : declared.events()) {
      const auto schema = declared.find(event.id, event.version);
      if (!schema) continue;
      ++events;
      for (const u64 value :
           {u64{event.id}, u64{event.version}, u64{event.channel}, u64{event.level},
            u64{event.opcode}, u64{event.task}, event.keywords, add_layout(*schema),
            texts_.add(schema->event_name), texts_.add(schema->message)})
        tail.number(value);
    }
    RecordWriter out;
    const std::size_t first = has_base ? 0 : 1;  // the first text of all is empty
    out.number(texts_.own().size() - first);
    for (auto i = first; i < texts_.own().size(); ++i) out.append(*texts_.own()[i]);
    out.append(head.take());
    write_all(out, maps_);
    write_all(out, layouts_);
    out.number(events);
    out.append(tail.take());
    return out.take();
  }

 private:
  using Record = RecordParts::Record;

  static void write_all(RecordWriter& out, const Numbered<Record>& records) {
    out.number(records.own().size());
    for (const auto* record : records.own()) out.append(*record);
  }

  void write_names(RecordWriter& out, const std::vector<ProviderNames::Name>& names) {
    out.number(names.size());
    for (const auto& name : names) {
      out.number(name.number);
      out.number(texts_.add(name.text));
    }
  }

  u64 add_map(const ValueMap& map) {
    RecordWriter out;
    out.number(texts_.add(map.name));
    out.number(map.bits ? 1 : 0);
    out.number(map.entries.size());
    for (const auto& entry : map.entries) {
      out.number(entry.value);
      out.number(texts_.add(entry.text));
    }
    return maps_.add(out.take());
  }

  u64 add_layout(const tracefile::EventSchema& schema) {
    RecordWriter out;
    out.number(schema.slots);
    write_fields(out, schema.fields);
    return layouts_.add(out.take());
  }

  void write_fields(RecordWriter& out, const std::vector<FieldSchema>& fields) {
    out.number(fields.size());
    for (const auto& field : fields) {
      out.number(texts_.add(field.name));
      out.number(static_cast<u64>(field.in));
      out.number(static_cast<u64>(field.out));
      out.number((field.optional ? StoredField::optional : 0U) |
                 (field.padding ? StoredField::padding : 0U) |
                 (field.map ? StoredField::mapped : 0U) |
                 (field.in == tracefile::InType::structure ? StoredField::structure : 0U));
      for (const auto& amount : {field.length, field.count}) {
        out.number(static_cast<u64>(amount.rule));
        out.number(amount.number);
      }
      out.number(field.slot);
      if (field.map) out.number(add_map(*field.map));
      if (field.in == tracefile::InType::structure) write_fields(out, field.members);
    }
  }

  Numbered<std::string>& texts_;
  Numbered<Record>&maps_, &layouts_;
};

}  // namespace

std::vector<std::byte> write_provider(tracefile::ProviderSchemas& declared, u32& events,
                                      RecordParts& parts) {
  return ProviderWriter{parts}.write(declared, events);
}

}  // namespace coldtrace::schema_files
