#include "schema-files/schema_conflicts.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "coldtrace/tracefile/fields/schema_comparison.hpp"

namespace coldtrace::schema_files {
namespace {

using tracefile::EventSchema;
using tracefile::ProviderNames;
using tracefile::SchemaEquality;
using tracefile::SchemaKey;

std::string file_of(const EventSchema& schema) {
  return versioned(schema.source, schema.source_version);
}

std::string own_place(const EventSchema& own) {
  return own.buffer ? fmt::format("the trace (buffer at {})", *own.buffer)
                    : "coldtrace's own table";
}

// What differs of two schemas that are not the same.
std::string_view difference(const EventSchema& a, const EventSchema& b) {
  return are_same(a, b, SchemaEquality::fields) ? "shows values differently"
                                                : "has different fields";
}

// Where one has no texts its file of them may be missing.
bool contradict(std::string_view a, std::string_view b) {
  return !a.empty() && !b.empty() && a != b;
}

bool contradict(const std::vector<ProviderNames::Name>& a,
                const std::vector<ProviderNames::Name>& b) {
  return std::any_of(a.begin(), a.end(), [&](const auto& one) {
    const auto same = [&](const auto& other) { return other.number == one.number; };
    const auto other = std::find_if(b.begin(), b.end(), same);
    return other != b.end() && contradict(one.text, other->text);
  });
}

}  // namespace

std::string versioned(const std::string& file, const std::string& version) {
  return version.empty() ? file : fmt::format("{} {}", file, version);
}

void tell_other_fields(const SchemaKey& event, const RankedSchema& first, const RankedSchema& other,
                       core::Findings& findings) {
  const bool by_tool = other.rank == SchemaRank::recreated && first.rank != SchemaRank::recreated;
  const auto what = difference(first.schema, other.schema);
  // The build that was traced decides.
  if (first.rank != other.rank && first.rank <= SchemaRank::build_before && !by_tool)
    findings.info("schema-builds", std::nullopt,
                  "event {} version {} of {} {} in {} than in {}, which takes precedence because "
                  "its build is nearer to the trace's",
                  event.id, event.version, other.schema.provider_name, what, file_of(other.schema),
                  file_of(first.schema));
  else
    findings.warning("schema-conflict", std::nullopt,
                     "event {} version {} of {} {} in {} than in {}, which takes precedence{}",
                     event.id, event.version, other.schema.provider_name, what,
                     file_of(other.schema), file_of(first.schema),
                     by_tool ? " because a tool made the other" : "");
}

void tell_other_texts(const SchemaKey& event, const EventSchema& first, const EventSchema& other,
                      core::Findings& findings) {
  const auto tell = [&](std::string_view what) {
    findings.info(
        "schema-texts", std::nullopt,
        "event {} version {} of {} has a different {} in {} than in {}, which takes precedence",
        event.id, event.version, other.provider_name, what, file_of(other), file_of(first));
  };
  if (contradict(first.event_name, other.event_name))
    tell("name");
  else if (contradict(first.message, other.message))
    tell("message");
  else if (have_contradicting_maps(first, other))
    tell("name of a value");
}

void tell_precedence(const SchemaKey& event, const EventSchema& own, const EventSchema& other,
                     core::Findings& findings) {
  const bool other_fields = !are_same(own, other, SchemaEquality::fields);
  if (!other_fields && !have_contradicting_maps(own, other)) return;
  findings.info(
      "schema-precedence", std::nullopt,
      "event {} version {} of {} has different {} in {} than in {}, which takes precedence",
      event.id, event.version, other.provider_name, other_fields ? "fields" : "names of values",
      file_of(other), own_place(own));
}

void tell_other_names(const NamedProvider& first, const NamedProvider& other,
                      core::Findings& findings) {
  const auto& a = first.names;
  const auto& b = other.names;
  if (contradict(first.name, other.name))
    findings.info(
        "schema-texts", std::nullopt,
        "{} gives the name {} to the provider that {} calls {}; the latter takes precedence",
        other.file, other.name, first.file, first.name);
  else if (contradict(a.levels, b.levels) || contradict(a.tasks, b.tasks) ||
           contradict(a.channels, b.channels) || contradict(a.keywords, b.keywords) ||
           contradict(a.opcodes, b.opcodes))
    findings.info("schema-texts", std::nullopt,
                  "levels, tasks, channels, keywords or opcodes of {} have different names in {} "
                  "than in {}, which takes precedence",
                  other.name, other.file, first.file);
}

}  // namespace coldtrace::schema_files
