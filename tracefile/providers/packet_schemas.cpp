#include "tracefile/providers/packet_schemas.hpp"

#include "tracefile/providers/event_table.hpp"

namespace coldtrace::tracefile {
namespace {

using Row = EventTableRow;

constexpr Row rows[] = {
#define EVENT_PROVIDER(name, guid) {Row::Kind::provider, 0, name, guid},
#define EVENT_TASK(name) {Row::Kind::task, 0, name, {}},
#define EVENT_VALUES(name, names) {Row::Kind::values, 0, name, names},
#define EVENT(events) {Row::Kind::event, 0, {}, events},
#define EVENT_FIELDS(version, layout) {Row::Kind::fields, version, {}, layout},
#include "tracefile/providers/packet_event_table.inc"
#undef EVENT_PROVIDER
#undef EVENT_TASK
#undef EVENT_VALUES
#undef EVENT
#undef EVENT_FIELDS
};

}  // namespace

std::shared_ptr<const SchemaSource> packet_schemas() {
  static const auto read = std::make_shared<const SchemaTable>(read_event_table(rows));
  return read;
}

}  // namespace coldtrace::tracefile
