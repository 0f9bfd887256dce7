#include "coldtrace/tracefile/fields/schema_source.hpp"

#include <algorithm>
#include <utility>

namespace coldtrace::tracefile {

void SchemaTable::add(const SchemaKey& key, EventSchema schema) {
  if (!schema.provider_name.empty() && !key.classic)
    provider_names_.try_emplace(key.provider, schema.provider_name);
  make_names_unique(schema.fields);
  if (!key.classic) schema.version = key.version;
  schemas_.try_emplace(key, std::make_shared<const EventSchema>(std::move(schema)));
}

void SchemaTable::add_other(const SchemaKey& key, EventSchema schema) {
  make_names_unique(schema.fields);
  if (!key.classic) schema.version = key.version;
  others_[key].push_back(std::make_shared<const EventSchema>(std::move(schema)));
}

void SchemaTable::set_names(const core::Guid& provider, ProviderNames names) {
  names_[provider] = std::make_shared<const ProviderNames>(std::move(names));
}

std::shared_ptr<const EventSchema> SchemaTable::find(const SchemaKey& key) const {
  const auto found = schemas_.find(key);
  return found == schemas_.end() ? nullptr : found->second;
}

std::string_view SchemaTable::find_provider_name(const core::Guid& provider) const {
  const auto found = provider_names_.find(provider);
  return found == provider_names_.end() ? std::string_view{} : found->second;
}

std::vector<std::shared_ptr<const EventSchema>> SchemaTable::find_others(
    const SchemaKey& key) const {
  const auto found = others_.find(key);
  return found == others_.end() ? std::vector<std::shared_ptr<const EventSchema>>{} : found->second;
}

std::shared_ptr<const ProviderNames> SchemaTable::find_names(const core::Guid& provider) const {
  const auto found = names_.find(provider);
  return found == names_.end() ? nullptr : found->second;
}

std::shared_ptr<const EventSchema> SchemaChain::find(const SchemaKey& key) const {
  for (const auto& link : sources_)
    if (auto schema = link.source->find(key)) return schema;
  return nullptr;
}

std::string_view SchemaChain::find_provider_name(const core::Guid& provider) const {
  for (const auto& link : sources_)
    if (const auto name = link.source->find_provider_name(provider); !name.empty()) return name;
  return {};
}

std::vector<std::shared_ptr<const EventSchema>> SchemaChain::find_others(
    const SchemaKey& key) const {
  std::vector<std::shared_ptr<const EventSchema>> others;
  bool found = false;
  for (const auto& link : sources_) {
    if (found && !link.alternative) continue;
    auto schema = link.source->find(key);
    if (!schema) continue;
    if (std::exchange(found, true)) others.push_back(std::move(schema));
    for (auto& other : link.source->find_others(key)) others.push_back(std::move(other));
  }
  return others;
}

std::shared_ptr<const ProviderNames> SchemaChain::find_names(const core::Guid& provider) const {
  for (const auto& link : sources_)
    if (auto names = link.source->find_names(provider)) return names;
  return nullptr;
}

bool SchemaChain::has_variants(const core::Guid& provider) const {
  return std::any_of(sources_.begin(), sources_.end(),
                     [&](const Link& link) { return link.source->has_variants(provider); });
}

u32 SchemaChain::find_variant(const core::Guid& provider, u32 process) const {
  for (const auto& link : sources_)
    if (const auto variant = link.source->find_variant(provider, process); variant != 0)
      return variant;
  return 0;
}

std::shared_ptr<const EventSchema> SchemaChain::find_of(const SchemaKey& key, u32 variant) const {
  for (const auto& link : sources_)
    if (auto schema = link.source->find_of(key, variant)) return schema;
  return nullptr;
}

std::shared_ptr<const ProviderNames> SchemaChain::find_names_of(const core::Guid& provider,
                                                                u32 variant) const {
  for (const auto& link : sources_)
    if (auto names = link.source->find_names_of(provider, variant)) return names;
  return nullptr;
}

}  // namespace coldtrace::tracefile
