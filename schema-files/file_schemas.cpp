#include "coldtrace/schema_files/file_schemas.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "coldtrace/tracefile/fields/schema_comparison.hpp"

namespace coldtrace::schema_files {

using tracefile::EventSchema;
using tracefile::SchemaEquality;
using tracefile::SchemaKey;

void FileSchemas::add(const tracefile::ProviderSchemas& declared) {
  auto& own = providers_[declared.guid()];
  if (own.name.empty()) own.name = declared.name();
  if (!own.names) own.names = std::make_shared<const tracefile::ProviderNames>(declared.names());
}

bool FileSchemas::add(const SchemaKey& event, std::shared_ptr<const EventSchema> schema,
                      SchemaRank rank, core::Findings& findings) {
  auto& known = schemas_[event];
  const auto compared =
      rank == SchemaRank::recreated ? SchemaEquality::fields : SchemaEquality::shown;
  if (std::any_of(known.schemas.begin(), known.schemas.end(),
                  [&](const auto& other) { return are_same(*other, *schema, compared); }))
    return false;
  if (known.schemas.empty())
    known.rank = rank;
  else
    tell_difference(event, known, *schema, rank, findings);
  known.schemas.push_back(std::move(schema));
  return true;
}

void FileSchemas::tell_difference(const SchemaKey& event, const Known& known,
                                  const EventSchema& other, SchemaRank rank,
                                  core::Findings& findings) {
  const auto& first = *known.schemas.front();
  const auto named = [](const EventSchema& schema) {
    return schema.source_version.empty()
               ? schema.source
               : fmt::format("{} {}", schema.source, schema.source_version);
  };
  // The build that was traced decides.
  if (known.rank != rank && known.rank <= SchemaRank::build_before)
    findings.info(
        "schema-builds", std::nullopt,
        "event {} version {} of {} has other fields in {} than in {}, which goes first as "
        "its build is nearer to the trace's",
        event.id, event.version, other.provider_name, named(other), named(first));
  else
    findings.warning(
        "schema-conflict", std::nullopt,
        "event {} version {} of {} has other fields in {} than in {}, which goes first", event.id,
        event.version, other.provider_name, named(other), named(first));
}

std::shared_ptr<const EventSchema> FileSchemas::find(const SchemaKey& key) const {
  const auto found = schemas_.find(key);
  return found == schemas_.end() ? nullptr : found->second.schemas.front();
}

std::string_view FileSchemas::find_provider_name(const core::Guid& provider) const {
  const auto found = providers_.find(provider);
  return found == providers_.end() ? std::string_view{} : found->second.name;
}

std::vector<std::shared_ptr<const EventSchema>> FileSchemas::find_others(
    const SchemaKey& key) const {
  const auto found = schemas_.find(key);
  if (found == schemas_.end()) return {};
  const auto& schemas = found->second.schemas;
  return {schemas.begin() + 1, schemas.end()};
}

std::shared_ptr<const tracefile::ProviderNames> FileSchemas::find_names(
    const core::Guid& provider) const {
  const auto found = providers_.find(provider);
  return found == providers_.end() ? nullptr : found->second.names;
}

}  // namespace coldtrace::schema_files
