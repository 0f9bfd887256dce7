#include "coldtrace/schema_files/file_schemas.hpp"

#include <algorithm>

#include "coldtrace/tracefile/fields/schema_comparison.hpp"
#include "schema-files/schema_conflicts.hpp"

namespace coldtrace::schema_files {

using tracefile::EventSchema;
using tracefile::SchemaEquality;
using tracefile::SchemaKey;

void FileSchemas::add(const std::string& file, const tracefile::ProviderSchemas& declared,
                      core::Findings& findings) {
  const auto [place, is_new] = providers_.try_emplace(declared.guid());
  auto& own = place->second;
  auto names = declared.names();
  if (!is_new)
    tell_other_names({own.file, own.name, *own.names}, {file, declared.name(), names}, findings);
  if (own.name.empty()) own.name = declared.name();
  if (own.names) return;
  own.names = std::make_shared<const tracefile::ProviderNames>(std::move(names));
  own.file = file;
}

bool FileSchemas::add(const SchemaKey& event, std::shared_ptr<const EventSchema> schema,
                      SchemaRank rank, core::Findings& findings) {
  auto& known = schemas_[event];
  const auto compared =
      rank == SchemaRank::recreated ? SchemaEquality::fields : SchemaEquality::shown;
  const auto same = std::find_if(known.schemas.begin(), known.schemas.end(), [&](const auto& one) {
    return are_same(*one, *schema, compared);
  });
  if (same != known.schemas.end()) {
    tell_other_texts(event, **same, *schema, findings);
    return false;
  }
  if (known.schemas.empty())
    known.rank = rank;
  else
    tell_other_fields(event, {*known.schemas.front(), known.rank}, {*schema, rank}, findings);
  known.schemas.push_back(std::move(schema));
  return true;
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
