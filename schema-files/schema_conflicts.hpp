#pragma once

#include <string>
#include <string_view>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/schema_files/windows_build.hpp"
#include "coldtrace/tracefile/fields/event_schema.hpp"

namespace coldtrace::schema_files {

// A file as findings name it: with its version where it has one.
std::string versioned(const std::string& file, const std::string& version);

// A schema of a file, and how near that is to the trace.
struct RankedSchema {
  const tracefile::EventSchema& schema;
  SchemaRank rank;
};

// Two files give an event other fields: `schema-conflict`, or `schema-builds` where the build that
// was traced decides. The fields are not the same.
void tell_other_fields(const tracefile::SchemaKey& event, const RankedSchema& first,
                       const RankedSchema& other, core::Findings& findings);

// Two files whose fields are the same: `schema-texts` where what both have of names and messages is
// not.
void tell_other_texts(const tracefile::SchemaKey& event, const tracefile::EventSchema& first,
                      const tracefile::EventSchema& other, core::Findings& findings);

// A file and what the trace itself, or coldtrace's own table, has of an event, which goes first:
// `schema-precedence` where fields or names of values are not the same.
void tell_precedence(const tracefile::SchemaKey& event, const tracefile::EventSchema& own,
                     const tracefile::EventSchema& other, core::Findings& findings);

// What two files call a provider, and the numbers of its headers: `schema-texts`.
struct NamedProvider {
  std::string_view file;  // versioned()
  std::string_view name;
  const tracefile::ProviderNames& names;
};
void tell_other_names(const NamedProvider& first, const NamedProvider& other,
                      core::Findings& findings);

}  // namespace coldtrace::schema_files
