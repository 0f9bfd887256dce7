#pragma once

#include <string>
#include <string_view>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/schema_files/windows_build.hpp"
#include "coldtrace/tracefile/fields/event_schema.hpp"

namespace coldtrace::schema_files {

// A file as findings name it: with its version if it has one.
std::string versioned(const std::string& file, const std::string& version);

// A schema, and how close its file is to the trace.
struct RankedSchema {
  const tracefile::EventSchema& schema;
  SchemaRank rank;
};

// Two files declare different fields for an event: `schema-conflict`, or `schema-builds` if the
// traced build decides. The fields have to differ.
void tell_other_fields(const tracefile::SchemaKey& event, const RankedSchema& first,
                       const RankedSchema& other, core::Findings& findings);

// Two files declare the same fields: `schema-texts` if names or messages that both have differ.
void tell_other_texts(const tracefile::SchemaKey& event, const tracefile::EventSchema& first,
                      const tracefile::EventSchema& other, core::Findings& findings);

// A file, and what the trace itself or coldtrace's own table has for an event, which takes
// precedence: `schema-precedence` if fields or names of values differ.
void tell_precedence(const tracefile::SchemaKey& event, const tracefile::EventSchema& own,
                     const tracefile::EventSchema& other, core::Findings& findings);

// The names of a provider, and of the numbers in its event headers, in two files: `schema-texts` if
// they differ.
struct NamedProvider {
  std::string_view file;  // versioned()
  std::string_view name;
  const tracefile::ProviderNames& names;
};
void tell_other_names(const NamedProvider& first, const NamedProvider& other,
                      core::Findings& findings);

}  // namespace coldtrace::schema_files
