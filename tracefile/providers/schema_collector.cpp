#include "tracefile/providers/schema_collector.hpp"

namespace coldtrace::tracefile {
namespace {

constexpr std::size_t most_schemas = 65'536;
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
      embedded_.try_emplace(schema->key, std::move(*schema));
    else
      findings.warning("schema-damaged", schema.error());
  } else {
    add_map(event, findings);
  }
}

void SchemaCollector::add_map(const Event& event, core::Findings& findings) {
  auto read = read_event_map(event.payload, event.buffer_offset);
  if (!read) {
    findings.warning("schema-damaged", read.error());
    return;
  }
  auto map = std::make_shared<const ValueMap>(std::move(read->map));
  maps_.try_emplace({read->provider, map->name}, map);
}

void SchemaCollector::add_manifest(const Event& event, core::Findings& findings) {
  auto text = assembler_.add(event);
  if (!text) return;
  const auto [known, is_new] = manifests_.emplace(event.provider, std::move(*text));
  if (!is_new) return;
  auto manifest = read_event_manifest(known->second, event.buffer_offset);
  manifest_bytes_ += known->second.size();
  if (manifest_bytes_ > most_manifest_bytes) {
    manifests_.clear();
    manifest_bytes_ = 0;
  }
  if (!manifest) {
    findings.warning("schema-damaged", manifest.error());
    return;
  }
  if (manifest->cut)
    findings.warning(
        "schema-name", event.buffer_offset,
        "names of fields in a manifest are longer than 4096 bytes; the rest of them is "
        "not kept");
  for (auto& [key, schema] : manifest->schemas) event_source_->add(key, std::move(schema));
  event_source_->set_names(manifest->provider, std::move(manifest->names));
}

void SchemaCollector::set_map(EmbeddedSchema& found, const EmbeddedSchema::MapUse& use) const {
  const auto map = maps_.find({found.provider, use.map_name});
  if (map == maps_.end()) return;
  auto* fields = &found.schema.fields;
  for (std::size_t i = 0; i < use.path.size(); ++i) {
    auto& field = (*fields)[use.path[i]];
    if (i + 1 == use.path.size()) field.map = map->second;
    fields = &field.members;
  }
}

std::shared_ptr<const SchemaTable> SchemaCollector::embedded() const {
  auto table = std::make_shared<SchemaTable>();
  std::map<core::Guid, ProviderNames> names;
  for (const auto& [key, schema] : embedded_) {
    auto found = schema;
    for (const auto& use : found.map_uses) set_map(found, use);
    table->add(key, std::move(found.schema));
    if (!key.classic) names[key.provider].merge(found.names);
  }
  for (auto& [provider, own] : names) table->set_names(provider, std::move(own));
  return table;
}

std::shared_ptr<const SchemaTable> SchemaCollector::event_source() const {
  return std::make_shared<const SchemaTable>(*event_source_);
}

}  // namespace coldtrace::tracefile
