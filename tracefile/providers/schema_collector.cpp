#include "tracefile/providers/schema_collector.hpp"

#include <algorithm>

#include "coldtrace/tracefile/fields/schema_comparison.hpp"

namespace coldtrace::tracefile {
namespace {

constexpr std::size_t most_schemas = 65'536;
constexpr std::size_t most_of_event = 16;
constexpr std::size_t most_manifest_bytes = 32 << 20;  // that are kept to know them again

// Source: PerfView's KernelTraceEventParser, MetaDataGuid.
constexpr auto metadata_class = *core::parse_guid("bbccf6c1-6cd1-48c4-80ff-839482e37671");
constexpr u8 event_info = 32;
constexpr u8 event_map_info = 33;

}  // namespace

bool SchemaCollector::wants(const Event& event) {
  if (event.event_class == EventClass::classic)
    return (event.opcode == event_info || event.opcode == event_map_info) && !event.kernel_group &&
           event.provider == metadata_class;
  return is_manifest_chunk(event);
}

void SchemaCollector::add(const KeptEvent& kept, core::Findings& findings) {
  const auto& event = kept.event;
  if (size() > most_schemas) return;
  if (event.event_class == EventClass::manifest) {
    add_manifest(event, findings);
  } else if (event.opcode == event_info) {
    auto schema = read_event_schema(event.payload, event.buffer_offset);
    if (schema)
      add_embedded(std::move(*schema), event, findings);
    else
      findings.warning("schema-damaged", schema.error());
  } else {
    add_map(event, findings);
  }
}

void SchemaCollector::add_embedded(EmbeddedSchema schema, const Event& event,
                                   core::Findings& findings) {
  auto& known = embedded_[schema.key];
  if (known.size() >= most_of_event || std::ranges::any_of(known, [&](const Embedded& other) {
        return are_same(other.schema.schema, schema.schema, SchemaEquality::shown) &&
               other.schema.map_uses == schema.map_uses;
      }))
    return;
  if (!known.empty())
    findings.warning(
        "schema-conflict", event.buffer_offset,
        "the trace has two schemas of event {} version {} of {} with different fields or names of "
        "their values: the one in the buffer at {} takes precedence, the other is used where only "
        "it fits",
        schema.key.id, schema.key.version, schema.schema.provider_name,
        known.front().schema.schema.buffer.value_or(0));
  schema.schema.buffer = event.buffer_offset;
  known.push_back({std::move(schema), event.file});
  ++embedded_size_;
}

void SchemaCollector::add_map(const Event& event, core::Findings& findings) {
  auto read = read_event_map(event.payload, event.buffer_offset);
  if (!read) {
    findings.warning("schema-damaged", read.error());
    return;
  }
  auto& known = maps_[{read->provider, std::move(read->exact_name)}];
  const auto [map, is_new] =
      known.try_emplace(event.file, std::make_shared<const ValueMap>(read->map));
  if (*map->second != read->map || *known.begin()->second != read->map)
    findings.warning("schema-conflict", event.buffer_offset,
                     "the trace names values of the map {} of {} in two ways; the first one of the "
                     "schema's file takes precedence",
                     read->map.name, core::to_string(read->provider));
}

void SchemaCollector::add_manifest(const Event& event, core::Findings& findings) {
  auto text = assembler_.add(event);
  if (!text) return;
  const auto process = event.pid.value_or(0);
  const auto [known, is_new] =
      manifests_.try_emplace({event.provider, std::move(*text)}, std::nullopt);
  if (!is_new) {
    if (const auto& read = known->second)
      event_source_->add_process(read->provider, process, read->number);
    return;
  }
  manifest_bytes_ += known->first.second.size();
  auto manifest = read_event_manifest(known->first.second, event.buffer_offset);
  if (!manifest) {
    findings.warning("schema-damaged", manifest.error());
  } else {
    if (manifest->cut)
      findings.warning(
          "schema-name", event.buffer_offset,
          "names of fields in a manifest are longer than 4096 bytes and are cut there");
    for (const auto& damage : manifest->damage)
      findings.warning("schema-damaged", event.buffer_offset, "the manifest of an EventSource: {}",
                       damage);
    const auto provider = manifest->provider;
    known->second = {
        provider, event_source_->add(std::move(*manifest), process, event.buffer_offset, findings)};
  }
  if (manifest_bytes_ > most_manifest_bytes) {
    manifests_.clear();
    manifest_bytes_ = 0;
  }
}

void SchemaCollector::set_map(EmbeddedSchema& found, u16 file,
                              const EmbeddedSchema::MapUse& use) const {
  const auto maps = maps_.find({found.provider, use.map_name});
  if (maps == maps_.end()) return;
  const auto own = maps->second.find(file);
  const auto& map = own != maps->second.end() ? own->second : maps->second.begin()->second;
  auto* fields = &found.schema.fields;
  for (std::size_t i = 0; i < use.path.size(); ++i) {
    auto& field = (*fields)[use.path[i]];
    if (i + 1 == use.path.size()) field.map = map;
    fields = &field.members;
  }
}

std::shared_ptr<const SchemaTable> SchemaCollector::embedded() const {
  auto table = std::make_shared<SchemaTable>();
  std::map<core::Guid, ProviderNames> names;
  for (const auto& [key, schemas] : embedded_)
    for (const auto& embedded : schemas) {
      auto found = embedded.schema;
      for (const auto& use : found.map_uses) set_map(found, embedded.file, use);
      if (&embedded == &schemas.front())
        table->add(key, std::move(found.schema));
      else
        table->add_other(key, std::move(found.schema));
      if (!key.classic) names[key.provider].merge(found.names);
    }
  for (auto& [provider, own] : names) table->set_names(provider, std::move(own));
  return table;
}

std::shared_ptr<const EventSourceSchemas> SchemaCollector::event_source() const {
  return std::make_shared<const EventSourceSchemas>(*event_source_);
}

}  // namespace coldtrace::tracefile
