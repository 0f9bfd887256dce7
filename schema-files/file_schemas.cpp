#include "coldtrace/schema_files/file_schemas.hpp"

#include <algorithm>

namespace coldtrace::schema_files {

using tracefile::EventSchema;
using tracefile::FieldSchema;
using tracefile::SchemaKey;

namespace {

bool is_same(const FieldSchema::Amount& a, const FieldSchema::Amount& b) {
  return a.rule == b.rule && a.number == b.number;
}

// Whether a payload has the same fields by both.
bool is_same(const std::vector<FieldSchema>& a, const std::vector<FieldSchema>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.name == y.name && x.in == y.in && x.out == y.out && is_same(x.length, y.length) &&
           is_same(x.count, y.count) && x.slot == y.slot && is_same(x.members, y.members);
  });
}

}  // namespace

void FileSchemas::add(const tracefile::ProviderSchemas& declared) {
  auto& own = providers_[declared.guid()];
  if (own.name.empty()) own.name = declared.name();
  if (!own.names) own.names = std::make_shared<const tracefile::ProviderNames>(declared.names());
}

bool FileSchemas::add(const SchemaKey& event, std::shared_ptr<const EventSchema> schema,
                      core::Findings& findings) {
  auto& known = schemas_[event];
  if (std::any_of(known.begin(), known.end(),
                  [&](const auto& other) { return is_same(other->fields, schema->fields); }))
    return false;
  if (!known.empty())
    findings.warning(
        "schema-conflict", std::nullopt,
        "event {} version {} of {} has other fields in {} than in {}, which goes first", event.id,
        event.version, schema->provider_name, schema->source, known.front()->source);
  known.push_back(std::move(schema));
  return true;
}

std::shared_ptr<const EventSchema> FileSchemas::find(const SchemaKey& key) const {
  const auto found = schemas_.find(key);
  return found == schemas_.end() ? nullptr : found->second.front();
}

std::string_view FileSchemas::find_provider_name(const core::Guid& provider) const {
  const auto found = providers_.find(provider);
  return found == providers_.end() ? std::string_view{} : found->second.name;
}

std::vector<std::shared_ptr<const EventSchema>> FileSchemas::find_others(
    const SchemaKey& key) const {
  const auto found = schemas_.find(key);
  if (found == schemas_.end()) return {};
  return {found->second.begin() + 1, found->second.end()};
}

std::shared_ptr<const tracefile::ProviderNames> FileSchemas::find_names(
    const core::Guid& provider) const {
  const auto found = providers_.find(provider);
  return found == providers_.end() ? nullptr : found->second.names;
}

}  // namespace coldtrace::schema_files
