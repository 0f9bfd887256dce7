#include "coldtrace/tracefile/instrumentation/wevt_schemas.hpp"

#include <algorithm>

#include "tracefile/fields/event_name.hpp"

namespace coldtrace::tracefile {
namespace {

using core::Fault;

// Fields and map entries of one provider, hundred times what the largest has: events may share a
// template, and templates a map.
constexpr std::size_t most_parts = 1'000'000;

// "Name" of the first channel "Name/Operational" that is the provider's own.
std::string_view name_of_channels(const WevtProvider& provider) {
  for (const auto& channel : provider.channels)
    if (const auto end = channel.name.find('/'); !channel.imported && end != std::string::npos)
      return std::string_view{channel.name}.substr(0, end);
  return {};
}

std::vector<ProviderNames::Name> to_names(const std::vector<WevtRow>& rows) {
  std::vector<ProviderNames::Name> names;
  for (const auto& row : rows) names.push_back({row.number, std::string{without_prefix(row.name)}});
  return names;
}

}  // namespace

core::Result<std::unique_ptr<WevtSchemas>> WevtSchemas::read(const WevtResource& resource,
                                                             const WevtResource::Provider& provider,
                                                             Options options,
                                                             core::Findings& findings) {
  auto read = read_wevt_provider(resource, provider, findings);
  if (!read) return core::fail(read.error());
  return std::unique_ptr<WevtSchemas>{
      new WevtSchemas{resource, std::move(*read), std::move(options), findings}};
}

WevtSchemas::WevtSchemas(const WevtResource& resource, WevtProvider provider, Options options,
                         core::Findings& findings)
    : resource_{resource},
      provider_{std::move(provider)},
      options_{std::move(options)},
      findings_{findings},
      names_{to_names(provider_.levels), to_names(provider_.tasks), to_names(provider_.channels),
             to_names(provider_.keywords), to_names(provider_.opcodes)} {
  // Version 3.1 does not have the provider's registered name. Of 710 providers of Windows 10 that
  // have it, it is the text of 57 of 70, and in the channels of 412 of 514.
  if (provider_.name.empty()) provider_.name = find_message(provider_.message);
  if (provider_.name.empty()) provider_.name = name_of_channels(provider_);
}

std::string WevtSchemas::find_message(u32 id) const {
  if (id == no_message || options_.messages == nullptr) return {};
  return options_.messages->find(id);
}

std::shared_ptr<const EventSchema> WevtSchemas::find(u16 id, u8 version) {
  const auto [place, is_new] = events_.try_emplace({id, version});
  if (is_new)
    if (const auto event = find_wevt_event(resource_, provider_, id, version))
      place->second = make(*event);
  return place->second;
}

std::vector<DeclaredEvent> WevtSchemas::events() const {
  std::map<std::pair<u16, u8>, DeclaredEvent> found;  // the first of a key is the one
  for (u32 i = 0; i < provider_.events; ++i) {
    const auto event = read_wevt_event(resource_, provider_, i);
    if (event && !event->is_classic())
      found.try_emplace({event->id, event->version},
                        DeclaredEvent{event->id, event->version, event->channel, event->level,
                                      event->opcode, event->task, event->keywords});
  }
  std::vector<DeclaredEvent> all;
  for (const auto& [key, event] : found) all.push_back(event);
  return all;
}

std::shared_ptr<const EventSchema> WevtSchemas::make(const WevtEvent& event) {
  EventSchema schema;
  if (event.fields != 0) {
    const auto* const declared = find_fields(event.fields);
    if (declared == nullptr || !spend(declared->fields.size(), event.offset)) return nullptr;
    schema.fields = declared->fields;
    schema.slots = declared->slots;
  }
  schema.provider_name = provider_.name;
  schema.event_name = find_event_name(event);
  schema.message = find_message(event.message);
  schema.source = options_.source;
  schema.source_version = options_.version;
  return std::make_shared<const EventSchema>(std::move(schema));
}

// What the manifest calls the event itself, or its task and opcode.
std::string WevtSchemas::find_event_name(const WevtEvent& event) const {
  const auto opcode =
      event.opcode == 0 ? std::string_view{} : names_.find_opcode(event.opcode, event.task);
  auto name = event_name_of(names_.find_task(event.task), opcode);
  if (event.task != 0 && !name.empty()) return name;
  const auto own = std::find_if(
      provider_.event_names.begin(), provider_.event_names.end(), [&](const auto& named) {
        return named.id == event.id && named.version == event.version && !named.name.empty();
      });
  return own == provider_.event_names.end() ? name : own->name;
}

const WevtFields* WevtSchemas::find_fields(u32 offset) {
  const auto [place, is_new] = fields_.try_emplace(offset);
  if (is_new) {
    auto made = make_fields(offset);
    if (made)
      place->second = std::make_unique<const WevtFields>(std::move(*made));
    else
      findings_.warning("schema-damaged", made.error());
  }
  return place->second.get();
}

core::Result<WevtFields> WevtSchemas::make_fields(u32 offset) {
  const auto declared = read_wevt_template(resource_, offset);
  if (!declared) return core::fail(declared.error());
  return to_fields(*declared, resource_.offset + offset, [this](u32 map) { return find_map(map); });
}

std::shared_ptr<const ValueMap> WevtSchemas::find_map(u32 offset) {
  const auto [place, is_new] = maps_.try_emplace(offset);
  if (!is_new) return place->second;
  const auto declared = read_wevt_map(resource_, offset);
  if (!declared) {
    findings_.warning("schema-damaged", declared.error());
    return nullptr;
  }
  if (!spend(declared->entries.size(), offset)) return nullptr;
  ValueMap map;
  map.name = declared->name;
  map.bits = declared->bits;
  for (const auto& entry : declared->entries)
    if (auto text = find_message(entry.message); !text.empty())
      map.entries.push_back({entry.value, std::move(text)});
  map.sort();
  place->second = std::make_shared<const ValueMap>(std::move(map));
  return place->second;
}

bool WevtSchemas::spend(std::size_t parts, u32 offset) {
  if (parts > most_parts - parts_) {
    findings_.warning("schema-damaged",
                      core::ParseError{Fault::limit, resource_.offset + offset, "WEVT", "fields",
                                       most_parts, parts_ + parts});
    return false;
  }
  parts_ += parts;
  return true;
}

}  // namespace coldtrace::tracefile
