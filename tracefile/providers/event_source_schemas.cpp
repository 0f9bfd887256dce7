#include "tracefile/providers/event_source_schemas.hpp"

#include <algorithm>

#include "coldtrace/tracefile/fields/schema_comparison.hpp"

namespace coldtrace::tracefile {
namespace {

// Of one provider: each makes a kind of each of its events, and only made-up traces have dozens.
constexpr std::size_t most_manifests = 64;

bool is_shown_alike(const EventSchema& a, const EventSchema& b) {
  return a.event_name == b.event_name && a.message == b.message &&
         are_same(a, b, SchemaEquality::shown) && have_same_maps(a, b);
}

bool is_known(const EventManifest& manifest, const SchemaTable& table) {
  const auto names = table.find_names(manifest.provider);
  return manifest.schemas.size() == table.size() && names && *names == manifest.names &&
         std::all_of(manifest.schemas.begin(), manifest.schemas.end(), [&](const auto& event) {
           const auto known = table.find(event.first);
           return known && is_shown_alike(*known, event.second);
         });
}

}  // namespace

u32 EventSourceSchemas::add(EventManifest manifest, u32 process, u64 buffer,
                            core::Findings& findings) {
  const auto& provider = manifest.provider;
  for (auto& [key, schema] : manifest.schemas) make_names_unique(schema.fields);
  auto& manifests = providers_[provider];
  for (u32 i = 0; i < manifests.size(); ++i)
    if (is_known(manifest, *manifests[i].table)) {
      add_process(provider, process, i);
      return i;
    }
  if (manifests.size() >= most_manifests) {
    findings.warning(
        "schema-limit", buffer,
        "the trace has more than {} different manifests of {}: events of process {} are "
        "read by the first that fits",
        most_manifests, core::to_string(provider), process);
    return 0;
  }
  const auto number = static_cast<u32>(manifests.size());
  auto table = std::make_shared<SchemaTable>();
  for (auto& [key, schema] : manifest.schemas) {
    if (const auto first = find(key); first && !is_shown_alike(*first, schema))
      findings.info(
          "schema-processes", buffer,
          "event {} version {} of {} is declared differently by process {} than by process "
          "{}; each event is decoded as its own process declares it, or else by the "
          "first declaration that fits",
          key.id, key.version, schema.provider_name, process, process_of(key));
    schema.buffer = buffer;
    table->add(key, std::move(schema));
  }
  table->set_names(provider, std::move(manifest.names));
  size_ += table->size() + 1;
  manifests.push_back({std::move(table), process});
  add_process(provider, process, number);
  return number;
}

void EventSourceSchemas::add_process(const core::Guid& provider, u32 process, u32 number) {
  numbers_.try_emplace({provider, process}, number);
}

u32 EventSourceSchemas::process_of(const SchemaKey& key) const {
  for (const auto& manifest : manifests_of(key.provider))
    if (manifest.table->find(key)) return manifest.process;
  return 0;
}

const EventSourceSchemas::Manifests& EventSourceSchemas::manifests_of(
    const core::Guid& provider) const {
  static const Manifests none;
  const auto found = providers_.find(provider);
  return found == providers_.end() ? none : found->second;
}

std::shared_ptr<const EventSchema> EventSourceSchemas::find(const SchemaKey& key) const {
  for (const auto& manifest : manifests_of(key.provider))
    if (auto schema = manifest.table->find(key)) return schema;
  return nullptr;
}

std::string_view EventSourceSchemas::find_provider_name(const core::Guid& provider) const {
  for (const auto& manifest : manifests_of(provider))
    if (const auto name = manifest.table->find_provider_name(provider); !name.empty()) return name;
  return {};
}

std::vector<std::shared_ptr<const EventSchema>> EventSourceSchemas::find_others(
    const SchemaKey& key) const {
  std::vector<std::shared_ptr<const EventSchema>> all;
  for (const auto& manifest : manifests_of(key.provider))
    if (auto schema = manifest.table->find(key)) all.push_back(std::move(schema));
  if (!all.empty()) all.erase(all.begin());
  return all;
}

std::shared_ptr<const ProviderNames> EventSourceSchemas::find_names(
    const core::Guid& provider) const {
  return find_names_of(provider, 0);
}

bool EventSourceSchemas::has_variants(const core::Guid& provider) const {
  return manifests_of(provider).size() > 1;
}

u32 EventSourceSchemas::find_variant(const core::Guid& provider, u32 process) const {
  const auto found = numbers_.find({provider, process});
  return found == numbers_.end() ? 0 : found->second;
}

std::shared_ptr<const EventSchema> EventSourceSchemas::find_of(const SchemaKey& key,
                                                               u32 variant) const {
  const auto& manifests = manifests_of(key.provider);
  auto schema = variant < manifests.size() ? manifests[variant].table->find(key) : nullptr;
  return schema ? schema : find(key);
}

std::shared_ptr<const ProviderNames> EventSourceSchemas::find_names_of(const core::Guid& provider,
                                                                       u32 variant) const {
  const auto& manifests = manifests_of(provider);
  return variant < manifests.size() ? manifests[variant].table->find_names(provider) : nullptr;
}

}  // namespace coldtrace::tracefile
