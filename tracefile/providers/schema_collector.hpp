#pragma once

#include <map>
#include <optional>
#include <utility>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/tracefile/events/event.hpp"
#include "coldtrace/tracefile/fields/schema_source.hpp"
#include "tracefile/providers/event_source_schemas.hpp"

namespace coldtrace::tracefile {

// An event with its payload copied: its other views are empty.
struct KeptEvent {
  Event event;
  std::vector<std::byte> payload;
};

// Gathers the schemas that a trace brings along.
class SchemaCollector {
 public:
  // Whether the event is a schema, a map or a piece of a manifest.
  static bool wants(const Event& event);

  // To be called in the order of the file: the first schema of a key takes precedence. Another one
  // that contradicts it is a finding.
  void add(const KeptEvent& kept, core::Findings& findings);

  // Of both kinds; grows with every new one.
  std::size_t size() const { return embedded_size_ + event_source_->size(); }

  // Those so far, by the merge and by EventSources. With names of mapped values as far as these are
  // known.
  std::shared_ptr<const SchemaTable> embedded() const;
  std::shared_ptr<const EventSourceSchemas> event_source() const;

 private:
  struct Embedded {
    EmbeddedSchema schema;
    u16 file;
  };

  void add_embedded(EmbeddedSchema schema, const Event& event, core::Findings& findings);
  void add_map(const Event& event, core::Findings& findings);
  void add_manifest(const Event& event, core::Findings& findings);
  void set_map(EmbeddedSchema& found, u16 file, const EmbeddedSchema::MapUse& use) const;

  std::map<SchemaKey, std::vector<Embedded>> embedded_;  // those with other fields or maps
  std::size_t embedded_size_ = 0;
  // By provider and exact name, and by file: each may be of another version of the provider.
  std::map<std::pair<core::Guid, std::string>, std::map<u16, std::shared_ptr<const ValueMap>>>
      maps_;
  std::shared_ptr<EventSourceSchemas> event_source_ = std::make_shared<EventSourceSchemas>();
  ManifestAssembler assembler_;
  struct ReadManifest {
    core::Guid provider;  // by its text
    u32 number;
  };
  // Those that were read, by provider and text: every process that has the provider writes its own.
  // Nothing of one that cannot be read.
  std::map<std::pair<core::Guid, std::string>, std::optional<ReadManifest>> manifests_;
  std::size_t manifest_bytes_ = 0;  // of text in all of them
};

}  // namespace coldtrace::tracefile
