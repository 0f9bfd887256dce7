#pragma once

#include <array>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/tracefile/events/event.hpp"
#include "coldtrace/tracefile/fields/field_decoder.hpp"
#include "coldtrace/tracefile/fields/schema_source.hpp"

namespace coldtrace::tracefile {

// Why the fields of an event are not known.
enum class Undecoded : u8 {
  none,              // there is a schema
  no_schema,         // no source has one for this manifest event
  unknown_class,     // a classic provider that is none of the kernel's
  unknown_version,   // the kernel's table has other versions of the event
  no_public_layout,  // Microsoft does not publish it
  message_format,    // a WPP message; its format is in the PDB of its module
  schema_damaged,    // the event's own TraceLogging schema cannot be read
  header_only,       // a record without payload format
};

[[nodiscard]] std::string_view to_string(Undecoded reason);

// What a source has for an event besides `first`, each with a layout that differs from all before
// it: one of the same layout explains no more of a payload.
[[nodiscard]] std::vector<std::shared_ptr<const EventSchema>> find_layouts(
    const SchemaSource& schemas, const SchemaKey& key,
    const std::shared_ptr<const EventSchema>& first);

// What all events of one kind have in common. Names may be empty.
struct EventKind {
  EventClass event_class;
  core::Guid provider;
  u16 id;  // of classic events: the opcode
  u8 version;
  Undecoded undecoded;
  std::string provider_name;
  std::string name;
  std::shared_ptr<const EventSchema> schema;  // null when undecoded
  // Tried if `schema` does not explain a payload to its last byte. All have another layout.
  std::vector<std::shared_ptr<const EventSchema>> others;
  std::shared_ptr<const ProviderNames> names;  // of the numbers in headers; null: not known
  FixedFields fixed32, fixed64;                // of the schema, for producers of either kind
  u32 number;                                  // in the order of first use by this decoder
  bool looked_up;  // in sources to which later parts of the trace may add
  bool kept;       // false beyond the limit of kinds, where the numbers repeat
  bool varies;     // processes have their own schemas of the provider
};

// Decodes payloads on demand, and remembers kinds. One object per thread.
class EventDecoder {
 public:
  // `schemas` must outlive the decoder.
  explicit EventDecoder(core::Borrowed<SchemaSource> schemas);

  // The same object for every event of the kind, as long as the decoder lives. Beyond a limit of
  // kinds, which only forged traces reach, the object is valid until the next call.
  const EventKind& kind_of(const Event& event);

  // The schema that decode() takes: the first of the kind's schemas that explains every byte of the
  // payload, otherwise that of the kind itself. Null if there is none.
  [[nodiscard]] const EventSchema* choose_schema(const Event& event, const EventKind& kind) const;

  // `read` are first fields of the kind's own schema that the visitor has read; there are none for
  // events that may have another schema.
  DecodeResult decode(const Event& event, const EventKind& kind, FieldVisitor& visitor,
                      const FixedFields& read = {}) const;
  [[nodiscard]] DecodeResult measure(const Event& event, const EventKind& kind) const;

 private:
  using Key = std::array<u64, 4>;
  struct Slot {
    Key key;
    u32 kind = 0;  // plus one; 0 is free
  };

  static Key key_of(const Event& event, core::ByteView schema_item, bool string_only);
  const EventKind& find_kind(const Event& event, const Key& key, core::ByteView schema_item,
                             bool string_only, u32 variant);
  EventKind make_kind(const Event& event, core::ByteView schema_item, bool string_only,
                      u32 variant) const;
  void describe_classic(const Event& event, EventKind& kind) const;
  void describe_manifest(const Event& event, bool string_only, u32 variant, EventKind& kind) const;
  void describe_driver(const Event& event, EventKind& kind) const;
  void describe_message(const Event& event, EventKind& kind) const;
  void describe_trace_logging(const Event& event, core::ByteView item, EventKind& kind) const;
  static DecodeResult measure_first(const Event& event, const EventKind& kind);
  static const EventSchema* find_other(const Event& event, const EventKind& kind);
  void grow();

  const SchemaSource& schemas_;
  std::deque<EventKind> kinds_;
  std::vector<Slot> slots_;  // a power of two, open addressing
  EventKind overflow_{};
};

}  // namespace coldtrace::tracefile
