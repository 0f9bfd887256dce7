#include "tracefile/instrumentation/manifest_schemas.hpp"

#include <algorithm>

#include "tracefile/fields/event_name.hpp"

namespace coldtrace::tracefile {
namespace {

using core::Fault;

// Text that counts as much as a field.
constexpr std::size_t text_of_part = 64;

// Of what a manifest does not declare, the first channel that the message compiler gives away.
constexpr u8 first_channel = 16;

template <class Number>
Number number_in(const std::map<std::string, Number>& numbers, const std::string& name) {
  const auto found = numbers.find(name);
  return found == numbers.end() ? Number{} : found->second;
}

template <class Number>
void add(std::map<std::string, Number>& numbers, const std::string& name, u64 number) {
  if (!name.empty()) numbers.try_emplace(name, static_cast<Number>(number));
}

u64 number_of(const pugi::xml_node& node, const char* attribute) {
  return to_number(text_of(node, attribute)).value_or(0);
}

}  // namespace

std::optional<core::Guid> guid_of(const pugi::xml_node& provider) {
  auto guid = text_of(provider, "guid");
  std::erase_if(guid, [](char c) { return c == '{' || c == '}'; });
  return core::parse_guid(guid);
}

ManifestSchemas::ManifestSchemas(std::shared_ptr<const void> document,
                                 const pugi::xml_node& provider, const ManifestStrings& strings,
                                 u64 offset, Options options, core::Findings& findings)
    : document_{std::move(document)},
      strings_{strings},
      offset_{offset},
      options_{std::move(options)},
      findings_{findings},
      guid_{guid_of(provider).value_or(core::Guid{})},
      name_{text_of(provider, "name")} {
  read_names(provider);
  for (const auto& maps : children_of(provider, "maps"))
    for (const auto& node : maps.children())
      if (is_named(node, "valueMap") || is_named(node, "bitMap"))
        map_nodes_.try_emplace(text_of(node, "name"), node);
  for (const auto& templates : children_of(provider, "templates"))
    for (const auto& node : children_of(templates, "template"))
      templates_.try_emplace(text_of(node, "tid"), node);
  read_events(provider);
}

void ManifestSchemas::read_names(const pugi::xml_node& provider) {
  const auto shown = [](const std::string& name) { return std::string{without_prefix(name)}; };
  // What every provider has, by the names that manifests have for it.
  for (unsigned i = 0; i <= 0xff; ++i) {
    const auto number = static_cast<u8>(i);
    const auto known = [](std::string_view name) {
      return name.empty() ? std::string{} : "win:" + std::string{name};
    };
    add(levels_, known(ProviderNames{}.find_level(number)), number);
    add(opcodes_, known(ProviderNames{}.find_opcode(number, 0)), number);
  }
  for (unsigned bit = 48; bit < 64; ++bit) {
    u64 rest = 0;
    for (const auto name : ProviderNames{}.find_keywords(u64{1} << bit, rest))
      add(keywords_, "win:" + std::string{name}, u64{1} << bit);
  }
  for (const auto& levels : children_of(provider, "levels"))
    for (const auto& node : children_of(levels, "level")) {
      const auto name = text_of(node, "name");
      add(levels_, name, number_of(node, "value"));
      names_.levels.push_back({number_of(node, "value") & 0xff, shown(name)});
    }
  for (const auto& keywords : children_of(provider, "keywords"))
    for (const auto& node : children_of(keywords, "keyword")) {
      const auto name = text_of(node, "name");
      add(keywords_, name, number_of(node, "mask"));
      names_.keywords.push_back({number_of(node, "mask"), shown(name)});
    }
  read_opcodes(provider, 0, opcodes_);
  for (const auto& tasks : children_of(provider, "tasks"))
    for (const auto& node : children_of(tasks, "task")) {
      const auto name = text_of(node, "name");
      Task task{static_cast<u16>(number_of(node, "value")), {}};
      names_.tasks.push_back({task.number, shown(name)});
      read_opcodes(node, task.number, task.opcodes);
      tasks_.try_emplace(name, std::move(task));
    }
  read_channels(provider);
}

void ManifestSchemas::read_opcodes(const pugi::xml_node& parent, u16 task,
                                   std::map<std::string, u8>& numbers) {
  for (const auto& opcodes : children_of(parent, "opcodes"))
    for (const auto& node : children_of(opcodes, "opcode")) {
      const auto name = text_of(node, "name");
      const auto number = number_of(node, "value") & 0xff;
      add(numbers, name, number);
      names_.opcodes.push_back({number << 16 | task, std::string{without_prefix(name)}});
    }
}

void ManifestSchemas::read_channels(const pugi::xml_node& provider) {
  u64 next = first_channel;
  for (const auto& channels : children_of(provider, "channels"))
    for (const auto& node : channels.children()) {
      const bool imported = is_named(node, "importChannel");
      if (!imported && !is_named(node, "channel")) continue;
      const auto name = text_of(node, "name");
      auto number = to_number(text_of(node, "value"));
      for (u8 known = 8; imported && !number && known < first_channel; ++known)
        if (ProviderNames{}.find_channel(known) == name) number = known;
      if (!number) number = next;
      if (*number >= next) next = *number + 1;
      if (*number > 0xff) continue;
      const auto id = text_of(node, "chid");
      add(channels_, id.empty() ? name : id, *number);
      names_.channels.push_back({*number, name});
    }
}

void ManifestSchemas::read_events(const pugi::xml_node& provider) {
  for (const auto& list : children_of(provider, "events"))
    for (const auto& node : children_of(list, "event")) {
      const auto id = to_number(text_of(node, "value"));
      const auto version = number_of(node, "version");
      if (!id || *id > 0xffff || version > 0xff) continue;
      auto numbers = numbers_of(node);
      numbers.id = static_cast<u16>(*id);
      numbers.version = static_cast<u8>(version);
      events_.try_emplace({numbers.id, numbers.version}, Event{node, numbers});
    }
}

DeclaredEvent ManifestSchemas::numbers_of(const pugi::xml_node& node) const {
  DeclaredEvent numbers;
  numbers.channel = number_in(channels_, text_of(node, "channel"));
  numbers.level = number_in(levels_, text_of(node, "level"));
  const auto opcode = text_of(node, "opcode");
  numbers.opcode = number_in(opcodes_, opcode);
  if (const auto task = tasks_.find(text_of(node, "task")); task != tasks_.end()) {
    numbers.task = task->second.number;
    if (const auto own = task->second.opcodes.find(opcode); own != task->second.opcodes.end())
      numbers.opcode = own->second;
  }
  const auto keywords = text_of(node, "keywords");
  for (std::size_t at = 0; at < keywords.size();) {
    const auto end = std::min(keywords.find_first_of(" \t\r\n", at), keywords.size());
    numbers.keywords |= number_in(keywords_, keywords.substr(at, end - at));
    at = end + 1;
  }
  return numbers;
}

std::vector<DeclaredEvent> ManifestSchemas::events() const {
  std::vector<DeclaredEvent> all;
  for (const auto& [key, event] : events_) all.push_back(event.numbers);
  return all;
}

std::shared_ptr<const EventSchema> ManifestSchemas::find(u16 id, u8 version) {
  const auto [place, is_new] = schemas_.try_emplace({id, version});
  if (is_new)
    if (const auto event = events_.find({id, version}); event != events_.end())
      place->second = make(event->second.node);
  return place->second;
}

std::shared_ptr<const EventSchema> ManifestSchemas::make(const pugi::xml_node& node) {
  EventSchema schema;
  if (const auto id = text_of(node, "template"); !id.empty()) {
    const auto* const declared = find_fields(id);
    if (declared == nullptr || !spend(declared->fields.size())) return nullptr;
    schema.fields = declared->fields;
    schema.slots = declared->slots;
  }
  schema.provider_name = name_;
  // Without a task, what is the event's own: EventSources give both events of a pair a task, named
  // after what starts and stops.
  auto own = text_of(node, "task");
  if (own.empty()) own = text_of(node, "name");
  if (own.empty()) own = text_of(node, "symbol");
  schema.event_name = event_name_of(own, text_of(node, "opcode"));
  schema.message = strings_.localize(text_of(node, "message"));
  schema.source = options_.source;
  if (!spend(schema.message.size() / text_of_part)) return nullptr;
  return std::make_shared<const EventSchema>(std::move(schema));
}

const WevtFields* ManifestSchemas::find_fields(const std::string& id) {
  const auto [place, is_new] = fields_.try_emplace(id);
  if (!is_new) return place->second.get();
  const auto declared = templates_.find(id);
  if (declared == templates_.end()) {
    findings_.warning("schema-damaged", offset_, "events of {} refer to a template that it lacks",
                      name_);
    return nullptr;
  }
  auto read = read_manifest_fields(declared->second,
                                   [this](const std::string& name) { return find_map(name); });
  if (read.cut)
    findings_.warning("schema-name", offset_,
                      "names of fields in a manifest are longer than 4096 bytes and are cut there");
  if (read.incomplete)
    findings_.info("schema-incomplete", offset_,
                   "templates of {} have a field that cannot be placed, such as one of an unknown "
                   "type or a binary without length; payloads are decoded up to there",
                   name_);
  place->second = std::make_unique<const WevtFields>(std::move(read.fields));
  return place->second.get();
}

std::shared_ptr<const ValueMap> ManifestSchemas::find_map(const std::string& name) {
  const auto [place, is_new] = maps_.try_emplace(name);
  if (!is_new) return place->second;
  const auto declared = map_nodes_.find(name);
  if (declared == map_nodes_.end()) return nullptr;
  const auto entries = children_of(declared->second, "map");
  if (!spend(entries.size())) return nullptr;
  ValueMap map;
  map.name = name;
  map.bits = is_named(declared->second, "bitMap");
  for (const auto& entry : entries) {
    const auto value = to_number(text_of(entry, "value"));
    auto text = strings_.localize(text_of(entry, "message"));
    if (text.empty()) text = text_of(entry, "symbol");
    if (value && !text.empty() && spend(text.size() / text_of_part))
      map.entries.push_back({*value, std::move(text)});
  }
  map.sort();
  place->second = std::make_shared<const ValueMap>(std::move(map));
  return place->second;
}

bool ManifestSchemas::spend(std::size_t parts) {
  if (parts > options_.most_parts - parts_) {
    findings_.warning("schema-damaged",
                      core::ParseError{Fault::limit, offset_, "event manifest", "fields",
                                       options_.most_parts, parts_ + parts});
    return false;
  }
  parts_ += parts;
  return true;
}

}  // namespace coldtrace::tracefile
