#include <algorithm>
#include <map>
#include <utility>

#include "coldtrace/tracefile/fields/event_schema.hpp"
#include "schema-files/record_reader.hpp"
#include "schema-files/stored_field_flags.hpp"
#include "schema-files/stored_provider.hpp"

namespace coldtrace::schema_files {
namespace {

using core::Fault;
using tracefile::DeclaredEvent;
using tracefile::EventSchema;
using tracefile::FieldSchema;
using tracefile::InType;
using tracefile::ProviderNames;
using tracefile::ValueMap;
using Rule = FieldSchema::Rule;

constexpr u64 any = ~u64{};

// Fields and map entries that are handed out, as of other files.
constexpr std::size_t most_parts = 1'000'000;
constexpr std::size_t text_of_part = 64;  // bytes of text that count as one

struct Layout {
  u16 slots = 0;
  std::vector<FieldSchema> fields;
};

struct StoredEvent {
  DeclaredEvent numbers;
  std::size_t layout = 0;
  std::string_view name, message;
};

class StoredSchemas final : public tracefile::ProviderSchemas {
 public:
  StoredSchemas(std::vector<std::byte> bytes, std::vector<std::byte> base, const core::Guid& guid,
                SchemaOrigin origin, u64 offset)
      : bytes_{std::move(bytes)},
        base_{std::move(base)},
        guid_{guid},
        origin_{std::move(origin)},
        in_{bytes_, offset} {}

  core::Result<core::Done> read() {
    texts_.emplace_back();
    if (!base_.empty()) {
      const auto own = std::exchange(in_, RecordReader{base_, in_.offset()});
      read_parts();
      if (!in_.ok()) return core::fail(in_.error());
      names_ = {};
      in_ = own;
    }
    read_parts();
    const auto events = in_.count("events");
    for (std::size_t i = 0; i < events && in_.ok(); ++i) read_event();
    if (in_.ok() && !in_.at_end()) in_.reject(Fault::bad_value, "size", 0, 0);
    if (!in_.ok()) return core::fail(in_.error());
    return core::Done{};
  }

  const core::Guid& guid() const override { return guid_; }
  const std::string& name() const override { return name_; }
  const ProviderNames& names() const override { return names_; }

  std::shared_ptr<const EventSchema> find(u16 id, u8 version) override {
    const auto event = events_.find({id, version});
    if (event == events_.end()) return nullptr;
    const auto [place, is_new] = schemas_.try_emplace({id, version});
    if (is_new) place->second = make(event->second);
    return place->second;
  }

  std::vector<DeclaredEvent> events() const override {
    std::vector<DeclaredEvent> all;
    for (const auto& [key, event] : events_) all.push_back(event.numbers);
    return all;
  }

 private:
  // What records may be based on, and between that the names of the record itself.
  void read_parts() {
    const auto texts = in_.count("texts");
    for (std::size_t i = 0; i < texts && in_.ok(); ++i) texts_.push_back(in_.text());
    name_ = core::to_valid_utf8(text());
    for (auto* list :
         {&names_.levels, &names_.tasks, &names_.channels, &names_.keywords, &names_.opcodes})
      read_names(*list);
    read_maps();
    const auto layouts = in_.count("layouts");
    for (std::size_t i = 0; i < layouts && in_.ok(); ++i) read_layout();
  }

  std::string_view text() {
    const auto index = in_.number("index of a text", texts_.size() - 1);
    return texts_[static_cast<std::size_t>(index)];
  }

  template <class T>
  T small(core::Name field) {
    return static_cast<T>(in_.number(field, static_cast<T>(~T{})));
  }

  void read_names(std::vector<ProviderNames::Name>& names) {
    const auto count = in_.count("names");
    for (std::size_t i = 0; i < count && in_.ok(); ++i) {
      const auto number = in_.number("number", any);
      const auto name = text();
      if (spend(name.size() / text_of_part)) names.push_back({number, core::to_valid_utf8(name)});
    }
  }

  void read_maps() {
    const auto count = in_.count("maps");
    for (std::size_t i = 0; i < count && in_.ok(); ++i) {
      auto map = std::make_shared<ValueMap>();
      map->name = core::to_valid_utf8(text());
      map->bits = in_.number("kind of a map", 1) == 1;
      const auto entries = in_.count("entries");
      for (std::size_t n = 0; n < entries && in_.ok(); ++n) {
        const auto value = in_.number("value", any);
        const auto name = text();
        if (spend(1 + name.size() / text_of_part))
          map->entries.push_back({value, core::to_valid_utf8(name)});
      }
      map->sort();
      maps_.push_back(std::move(map));
    }
  }

  void read_layout() {
    Layout layout;
    layout.slots = static_cast<u16>(in_.number("slots", EventSchema::largest_slot));
    fields_ = 0;
    read_fields(layout, layout.fields, 0);
    if (!in_.ok()) return;
    tracefile::make_names_unique(layout.fields);
    layouts_.push_back(std::move(layout));
  }

  void read_fields(const Layout& layout, std::vector<FieldSchema>& into, unsigned depth) {
    if (depth >= tracefile::deepest_structure)
      return in_.reject(Fault::limit, "structures", tracefile::deepest_structure, depth);
    const auto count = in_.count("fields");
    for (std::size_t i = 0; i < count && in_.ok(); ++i) {
      if (++fields_ > tracefile::most_fields)
        return in_.reject(Fault::limit, "fields", tracefile::most_fields, fields_);
      FieldSchema field;
      const auto name = text();
      if (!spend(1 + name.size() / text_of_part)) return;
      field.name = core::to_valid_utf8(name);
      field.in = static_cast<InType>(small<u16>("inType"));
      field.out = static_cast<tracefile::OutType>(small<u16>("outType"));
      const auto flags = in_.number("flags", StoredField::structure * 2 - 1);
      field.optional = (flags & StoredField::optional) != 0;
      field.padding = (flags & StoredField::padding) != 0;
      for (auto* amount : {&field.length, &field.count}) {
        amount->rule = static_cast<Rule>(in_.number("rule", static_cast<u64>(Rule::rest)));
        amount->number = static_cast<u16>(
            in_.number("amount", amount->rule == Rule::slot ? layout.slots : 0xffff));
      }
      field.slot = static_cast<u16>(in_.number("slot", layout.slots));
      if ((flags & StoredField::mapped) != 0) read_map_of(field);
      if (((flags & StoredField::structure) != 0) != (field.in == InType::structure))
        return in_.reject(Fault::bad_value, "flags", static_cast<u64>(field.in), flags);
      if (field.in == InType::structure) read_fields(layout, field.members, depth + 1);
      into.push_back(std::move(field));
    }
  }

  void read_map_of(FieldSchema& field) {
    const auto index = in_.number("index of a map", any);
    if (index >= maps_.size())
      return in_.reject(Fault::bad_value, "index of a map", maps_.size(), index);
    field.map = maps_[static_cast<std::size_t>(index)];
  }

  void read_event() {
    StoredEvent event;
    auto& numbers = event.numbers;
    numbers.id = small<u16>("id");
    numbers.version = small<u8>("version");
    numbers.channel = small<u8>("channel");
    numbers.level = small<u8>("level");
    numbers.opcode = small<u8>("opcode");
    numbers.task = small<u16>("task");
    numbers.keywords = in_.number("keywords", any);
    const auto layout = in_.number("index of a layout", any);
    if (layout >= layouts_.size())
      return in_.reject(Fault::bad_value, "index of a layout", layouts_.size(), layout);
    event.layout = static_cast<std::size_t>(layout);
    event.name = text();
    event.message = text();
    events_.try_emplace({numbers.id, numbers.version}, event);
  }

  std::shared_ptr<const EventSchema> make(const StoredEvent& event) {
    const auto& layout = layouts_[event.layout];
    if (layout.fields.size() + event.message.size() / text_of_part > most_parts - made_)
      return nullptr;
    made_ += layout.fields.size() + event.message.size() / text_of_part;
    EventSchema schema;
    schema.fields = layout.fields;
    schema.slots = layout.slots;
    schema.provider_name = name_;
    schema.event_name = core::to_valid_utf8(event.name);
    schema.message = core::to_valid_utf8(event.message);
    schema.source = origin_.source;
    schema.source_version = origin_.version;
    return std::make_shared<const EventSchema>(std::move(schema));
  }

  // Of what is read whole.
  bool spend(std::size_t parts) {
    if (parts > most_parts - parts_) {
      in_.reject(Fault::limit, "fields", most_parts, parts_ + parts);
      return false;
    }
    parts_ += parts;
    return in_.ok();
  }

  std::vector<std::byte> bytes_, base_;  // what texts are views of
  core::Guid guid_;
  SchemaOrigin origin_;
  RecordReader in_;
  std::vector<std::string_view> texts_;
  std::string name_;
  ProviderNames names_;
  std::vector<std::shared_ptr<const ValueMap>> maps_;
  std::vector<Layout> layouts_;
  std::map<std::pair<u16, u8>, StoredEvent> events_;
  std::map<std::pair<u16, u8>, std::shared_ptr<const EventSchema>> schemas_;
  std::size_t fields_ = 0;  // of the layout that is read
  std::size_t parts_ = 0, made_ = 0;
};

}  // namespace

core::Result<std::unique_ptr<tracefile::ProviderSchemas>> read_provider(
    std::vector<std::byte> bytes, const core::Guid& guid, SchemaOrigin origin, u64 offset,
    std::vector<std::byte> base) {
  auto schemas = std::make_unique<StoredSchemas>(std::move(bytes), std::move(base), guid,
                                                 std::move(origin), offset);
  if (const auto done = schemas->read(); !done) return core::fail(done.error());
  return schemas;
}

}  // namespace coldtrace::schema_files
