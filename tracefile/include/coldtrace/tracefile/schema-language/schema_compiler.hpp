#pragma once

#include <vector>

#include "coldtrace/tracefile/fields/schema_source.hpp"
#include "coldtrace/tracefile/schema-language/schema_language.hpp"

namespace coldtrace::tracefile {

// One version of an event, ready to decode.
struct CompiledEvent {
  core::Guid provider;
  u16 id;
  u8 version;
  std::shared_ptr<const EventSchema> schema;
  // Where in the data the event's own process and thread are, both u32, for pointers of the traced
  // system's size.
  std::optional<u32> process_offset, thread_offset;
  // The process that begins here; the name of its image is in field `image_name`.
  std::optional<u32> started_process_offset;
  std::optional<u32> image_name;
};

// Schemas of a trace as the decoder uses them.
class CompiledSchemas final : public SchemaSource {
 public:
  CompiledSchemas(const std::vector<Schema>& schemas, unsigned pointer_size);

  // The event of an entry, or null.
  [[nodiscard]] const CompiledEvent* find_event(u16 id, u8 version) const;
  // Whether any version of the event contains what is never shown.
  [[nodiscard]] bool is_encrypted(u16 id) const;

  [[nodiscard]] std::shared_ptr<const EventSchema> find(const SchemaKey& key) const override;
  [[nodiscard]] std::string_view find_provider_name(const core::Guid& provider) const override;

 private:
  std::vector<CompiledEvent> events_;  // by id and version
  std::vector<u32> first_of_id_;       // by id; the number of events where there is none
  SchemaTable table_;
};

}  // namespace coldtrace::tracefile
