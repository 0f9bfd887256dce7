#include "tracefile/opening/inner_events.hpp"

#include <algorithm>

#include "coldtrace/tracefile/etl/buffer_walker.hpp"
#include "coldtrace/tracefile/providers/event_decoder.hpp"

namespace coldtrace::tracefile {
namespace {

constexpr std::size_t most_keys = 65'536;

class InnerEvent final : public FieldVisitor {
 public:
  core::ByteView bytes;  // of the last field with one

  void value(const FieldSchema&, const Value& value) override {
    if (value.out == OutType::etw_event) bytes = value.bytes;
  }
  void begin_array(const FieldSchema&) override {}
  void end_array() override {}
  void begin_structure(const FieldSchema&) override {}
  void end_structure() override {}
};

bool may_have_inner(const EventKind& kind) {
  return kind.schema && std::ranges::any_of(kind.schema->fields, [](const FieldSchema& field) {
           return field.out == OutType::etw_event;
         });
}

}  // namespace

std::set<SchemaKey> find_inner_keys(EventSequence& events, const SchemaSource& schemas) {
  std::set<SchemaKey> keys;
  EventDecoder decoder{schemas};
  for (auto item = events.next(); item != EventSequence::Item::end; item = events.next()) {
    if (item != EventSequence::Item::event) continue;
    const auto& event = events.event();
    const auto& kind = decoder.kind_of(event);
    if (!may_have_inner(kind)) continue;
    InnerEvent inner;
    static_cast<void>(decoder.decode(event, kind, inner));
    BufferWalker walker{
        inner.bytes, {event.buffer_offset, event.pointer_size == 8, event.cpu}, 0, OnDamage::stop};
    if (inner.bytes.empty() || !walker.next() || keys.size() >= most_keys) continue;
    if (const auto key = outside_key_of(walker.event())) keys.insert(*key);
  }
  return keys;
}

}  // namespace coldtrace::tracefile
