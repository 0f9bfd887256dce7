#include "coldtrace/trace_analysis/services/thread_clocks.hpp"

#include <catch2/catch.hpp>

using namespace coldtrace;
using namespace coldtrace::trace_analysis;

TEST_CASE("the clock of a thread stands still while it does not run") {
  const Population population;
  const Losses losses;
  const Observed observed{population, losses, std::nullopt, std::nullopt};
  ThreadClocks clocks;
  clocks.begin(observed);
  const auto go = [&](i64 time, Index from, Index to, bool continues = true) {
    ContextSwitch record{};
    record.moment = {time, u16{0}, {}};
    record.old_thread = from;
    record.new_thread = to;
    record.continues = continues;
    clocks.on_switch(record);
  };
  const auto before = clocks.read(1, 5);
  CHECK_FALSE(before);
  go(10, 0, 1);
  const auto first = clocks.read(1, 12);
  go(20, 1, 0);
  CHECK(ThreadClocks::between(first, clocks.read(1, 30)) == 8);
  go(40, 0, 1);
  CHECK(ThreadClocks::between(first, clocks.read(1, 43)) == 11);
  CHECK_FALSE(ThreadClocks::between(before, clocks.read(1, 43)));
  // Another thread leaves the processor than went to it.
  go(50, 2, 0, false);
  const auto again = clocks.read(1, 60);
  go(70, 1, 0, false);
  CHECK_FALSE(ThreadClocks::between(again, clocks.read(1, 80)));
  CHECK_FALSE(ThreadClocks::between(first, clocks.read(1, 80)));
}
