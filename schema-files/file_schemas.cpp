#include "coldtrace/schema_files/file_schemas.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace coldtrace::schema_files {

using tracefile::EventSchema;
using tracefile::FieldSchema;
using tracefile::SchemaKey;

namespace {

// Whether a payload has the same fields by two schemas, but for how values are shown where
// `recreated`. Numbers of slots are what whoever read a schema made them.
class Comparison {
 public:
  explicit Comparison(bool recreated) : recreated_{recreated} {}

  bool is_same(const std::vector<FieldSchema>& a, const std::vector<FieldSchema>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [this](const auto& x, const auto& y) { return is_same(x, y); });
  }

 private:
  bool is_same(const FieldSchema& a, const FieldSchema& b) {
    if (a.name != b.name || a.in != b.in || (a.out != b.out && !recreated_) ||
        (a.slot != 0) != (b.slot != 0) || !is_same(a.length, b.length) ||
        !is_same(a.count, b.count))
      return false;
    slots_[a.slot] = b.slot;
    return is_same(a.members, b.members);
  }

  // What gives an amount comes before it.
  bool is_same(const FieldSchema::Amount& a, const FieldSchema::Amount& b) {
    if (a.rule != b.rule) return false;
    return a.rule == FieldSchema::Rule::slot ? slots_[a.number] == b.number : a.number == b.number;
  }

  bool recreated_;
  std::map<u16, u16> slots_;  // of the second by that of the first
};

}  // namespace

void FileSchemas::add(const tracefile::ProviderSchemas& declared) {
  auto& own = providers_[declared.guid()];
  if (own.name.empty()) own.name = declared.name();
  if (!own.names) own.names = std::make_shared<const tracefile::ProviderNames>(declared.names());
}

bool FileSchemas::add(const SchemaKey& event, std::shared_ptr<const EventSchema> schema,
                      SchemaRank rank, core::Findings& findings) {
  auto& known = schemas_[event];
  const bool recreated = rank == SchemaRank::recreated;
  if (std::any_of(known.schemas.begin(), known.schemas.end(), [&](const auto& other) {
        return Comparison{recreated}.is_same(other->fields, schema->fields);
      }))
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
