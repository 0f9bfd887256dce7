#include "coldtrace/schema_files/schema_lookup.hpp"

#include <utility>

namespace coldtrace::schema_files {

SchemaLookup::SchemaLookup(SchemaFiles files, std::vector<std::string> languages,
                           std::optional<WindowsBuild> windows)
    : files_{std::move(files)}, languages_{std::move(languages)}, windows_{windows} {}

std::shared_ptr<const FileSchemas> SchemaLookup::schemas_of(const core::Guid& provider) const {
  if (!files_.declares(provider)) return nullptr;
  const std::scoped_lock lock{mutex_};
  const auto [place, is_new] = read_.try_emplace(provider);
  if (is_new)
    place->second =
        files_.read(files_.events_of(provider, findings_), languages_, windows_, findings_);
  return place->second;
}

std::shared_ptr<const tracefile::EventSchema> SchemaLookup::find(
    const tracefile::SchemaKey& key) const {
  const auto schemas = schemas_of(key.provider);
  return schemas ? schemas->find(key) : nullptr;
}

std::string_view SchemaLookup::find_provider_name(const core::Guid& provider) const {
  const auto schemas = schemas_of(provider);  // which is kept
  return schemas ? schemas->find_provider_name(provider) : std::string_view{};
}

std::vector<std::shared_ptr<const tracefile::EventSchema>> SchemaLookup::find_others(
    const tracefile::SchemaKey& key) const {
  const auto schemas = schemas_of(key.provider);
  return schemas ? schemas->find_others(key)
                 : std::vector<std::shared_ptr<const tracefile::EventSchema>>{};
}

std::shared_ptr<const tracefile::ProviderNames> SchemaLookup::find_names(
    const core::Guid& provider) const {
  const auto schemas = schemas_of(provider);
  return schemas ? schemas->find_names(provider) : nullptr;
}

core::Findings SchemaLookup::findings() const {
  const std::scoped_lock lock{mutex_};
  return findings_;
}

}  // namespace coldtrace::schema_files
