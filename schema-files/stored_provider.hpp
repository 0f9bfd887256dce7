#pragma once

#include <memory>
#include <string>
#include <vector>

#include "coldtrace/core/reader.hpp"
#include "coldtrace/tracefile/instrumentation/provider_schemas.hpp"

namespace coldtrace::schema_files {

// What a store keeps of one provider of one file: a record of numbers in base 128, in the order
//   texts, name of the provider, names of levels, tasks, channels, keywords and opcodes,
//   maps, layouts, events
// each list behind its length, and texts, maps and layouts once and by index behind that. See
// docs/formats/event-schemas.md.

// Events of which the provider has no schema, since it is damaged, are left out; `events` counts
// the others.
std::vector<std::byte> write_provider(tracefile::ProviderSchemas& declared, u32& events);

// Where the schemas of a record say that they are from.
struct SchemaOrigin {
  std::string source;
  std::string version;
};

// Hostile bytes are refused, or give schemas that are bounded as those of any file. The record is
// at `offset` of the store.
core::Result<std::unique_ptr<tracefile::ProviderSchemas>> read_provider(
    std::vector<std::byte> bytes, const core::Guid& guid, SchemaOrigin origin, u64 offset);

}  // namespace coldtrace::schema_files
