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

TEST_CASE("an activity of zeros is none, as one that the header does not have") {
  Event event;
  CHECK_FALSE(activity_of(event));
  const core::Guid zeros;
  event.activity = zeros.bytes;
  CHECK_FALSE(activity_of(event));
  event.activity = guid->bytes;
  CHECK(activity_of(event) == guid);
}
