#pragma once

#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "coldtrace/tracefile/events/event.hpp"
#include "coldtrace/tracefile/fields/event_schema.hpp"

namespace coldtrace::tracefile {

// The schemas of an instrumentation manifest, as EventSource writes it into the trace.
struct EventManifest {
  core::Guid provider;
  std::string provider_name;
  ProviderNames names;
  bool cut = false;                 // some names of fields are longer than is kept of them
  std::vector<std::string> damage;  // what of the text U+FFFD stands for, each in a sentence
  std::vector<std::pair<SchemaKey, EventSchema>> schemas;
};

// Reads the XML text of a manifest; `offset` is where the errors lie, since the text is in pieces.
// Data types that are not known end the event's fields there.
// Source: MS Learn "EventManifest schema"; .NET's ManifestBuilder for what EventSource writes.
core::Result<EventManifest> read_event_manifest(std::string_view xml, u64 offset);

// Whether the event is a piece of such a manifest.
bool is_manifest_chunk(const Event& event);

// The fields of such a piece.
std::shared_ptr<const EventSchema> manifest_chunk_schema();

// Puts manifests together from their pieces, which may be interleaved with those of others.
class ManifestAssembler {
 public:
  // The whole text when this was the last missing piece.
  std::optional<std::string> add(const Event& event);

 private:
  struct Pieces {
    u16 total = 0;
    u16 next = 0;
    std::string text;
  };
  // By provider and process.
  std::map<std::pair<core::Guid, u32>, Pieces> pieces_;
  std::size_t held_ = 0;  // bytes of text in all of them
};

}  // namespace coldtrace::tracefile
