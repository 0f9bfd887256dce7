#pragma once

#include <optional>

#include "coldtrace/core/guid.hpp"
#include "coldtrace/tracefile/events/event.hpp"
#include "coldtrace/tracefile/fields/field_schema.hpp"
#include "coldtrace/tracefile/fields/provider_names.hpp"

namespace coldtrace::tracefile {

// Which events a schema is for.
struct SchemaKey {
  core::Guid provider;  // of classic events: the class; of WPP messages: their source file
  u16 id = 0;           // of classic events: the opcode
  u8 version = 0;
  bool classic = false;
  bool message = false;  // of WPP
  friend auto operator<=>(const SchemaKey&, const SchemaKey&) = default;
};

// The key of an event whose schema is declared outside the trace: a manifest event, or a WPP
// message.
[[nodiscard]] std::optional<SchemaKey> outside_key_of(const Event& event);

// A schema as embedded by the merge of a trace, and the names of the maps that its fields use.
struct EmbeddedSchema {
  SchemaKey key;
  core::Guid provider;  // to which the maps belong; the key of a classic event has its class
  EventSchema schema;
  ProviderNames names;  // of the numbers in the headers of this event
  // `path` leads from the schema's fields through members to the field.
  struct MapUse {
    std::vector<u16> path;
    std::string map_name;  // exact text
    friend bool operator==(const MapUse&, const MapUse&) = default;
  };
  std::vector<MapUse> map_uses;
};

// Reads TRACE_EVENT_INFO. All offsets in it count from its start, and it may be hostile: structures
// that contain each other and names that overlap are bounded.
// Source: Windows SDK tdh.h; MS Learn "EVENT_PROPERTY_INFO".
core::Result<EmbeddedSchema> read_event_schema(core::ByteView blob, u64 offset);

// Names of a provider's values that a trace contains.
struct EmbeddedMap {
  core::Guid provider;
  std::string exact_name;  // as it is stored: that of `map` is for people
  ValueMap map;
};

// Reads an EVENT_MAP_INFO that follows a provider GUID. A map of texts to texts has no entries.
core::Result<EmbeddedMap> read_event_map(core::ByteView blob, u64 offset);

}  // namespace coldtrace::tracefile
