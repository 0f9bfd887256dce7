#include "coldtrace/tracefile/providers/event_members.hpp"

#include <catch2/catch.hpp>

using namespace coldtrace;
using namespace coldtrace::tracefile;

namespace {

constexpr auto guid = core::parse_guid("01234567-89ab-cdef-0123-456789abcdef");

}  // namespace

TEST_CASE("zeros are no provider of an entry of a tracer, and one of any other event") {
  struct Row {
    EventClass event_class;
    bool zeros_are_none;
  };
  const auto row = GENERATE(values<Row>({{EventClass::driver, true},
                                         {EventClass::classic, false},
                                         {EventClass::manifest, false},
                                         {EventClass::message, false}}));
  EventKind kind;
  kind.event_class = row.event_class;
  Event event;
  event.event_class = row.event_class;
  CHECK(provider_of(kind).has_value() != row.zeros_are_none);
  CHECK(provider_of(event).has_value() != row.zeros_are_none);
  kind.provider = event.provider = *guid;
  CHECK(provider_of(kind) == guid);
  CHECK(provider_of(event) == guid);
}

// Sources: evntprov.h, EVENT_DESCRIPTOR (Id, Version, Level, Opcode); MS Learn, EVENT_TRACE_HEADER
// (Class.Type is the opcode, Class.Level, Class.Version), MESSAGE_TRACE_HEADER (a number alone)
// and, of events of the kernel with a group, SYSTEM_TRACE_HEADER (a version, a hook's id, no
// level); an entry of a .ctrace file: docs/formats/trace-format.md.
TEST_CASE("events of a class have the members that its header has") {
  struct Row {
    const char* header;
    EventClass event_class;
    bool kernel_group, id, opcode, version, level;
  };
  const auto row = GENERATE(values<Row>({
      {"EVENT_DESCRIPTOR", EventClass::manifest, false, true, true, true, true},
      {"EVENT_TRACE_HEADER", EventClass::classic, false, false, true, true, true},
      {"SYSTEM_TRACE_HEADER", EventClass::classic, true, false, true, true, false},
      {"MESSAGE_TRACE_HEADER", EventClass::message, false, true, false, false, false},
      {"an entry of a .ctrace file", EventClass::driver, false, true, false, true, false},
      {"none: a record of a failure", EventClass::error, false, false, false, false, false},
  }));
  CAPTURE(row.header);
  Event event;
  event.event_class = row.event_class;
  if (row.kernel_group) event.kernel_group = u8{3};
  CHECK(has_id(row.event_class) == row.id);
  CHECK(has_opcode(event) == row.opcode);
  CHECK(has_version(row.event_class) == row.version);
  CHECK(has_level(event) == row.level);
}

TEST_CASE("an activity of zeros is none, as one that the header does not have") {
  Event event;
  CHECK_FALSE(activity_of(event));
  const core::Guid zeros;
  event.activity = zeros.bytes;
  CHECK_FALSE(activity_of(event));
  event.activity = guid->bytes;
  CHECK(activity_of(event) == guid);
}
