#include "coldtrace/tracefile/etl/running_threads.hpp"

#include <catch2/catch.hpp>

#include "coldtrace/tracefile/events/header_type.hpp"

using namespace coldtrace;
using namespace coldtrace::tracefile;

TEST_CASE("switches complete kernel events whose header has no place for thread and process") {
  const auto may_complete = [](HeaderType type, auto change) {
    Event event{};
    event.header_type = static_cast<u8>(type);
    event.kernel_group = 0x0f;
    change(event);
    return RunningThreads::may_complete(event);
  };
  const auto unchanged = [](Event&) {};
  CHECK(may_complete(HeaderType::perfinfo32, unchanged));
  CHECK(may_complete(HeaderType::perfinfo64, unchanged));
  // One that has a place for them says that there was none.
  CHECK_FALSE(may_complete(HeaderType::system64, unchanged));
  CHECK_FALSE(may_complete(HeaderType::perfinfo64, [](Event& event) { event.tid = 4; }));
  CHECK_FALSE(may_complete(HeaderType::perfinfo64, [](Event& event) { event.pid = 4; }));
  CHECK_FALSE(may_complete(HeaderType::perfinfo64, [](Event& event) { event.kernel_group = {}; }));
}
