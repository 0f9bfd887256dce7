#include "coldtrace/trace_analysis/code/needed_symbols.hpp"

#include <catch2/catch.hpp>

using namespace coldtrace;
using namespace coldtrace::trace_analysis;

TEST_CASE("uses of code add up by how events name it") {
  CodeUse use{.samples = 1, .frames = 2, .addresses = 3};
  use.add({.samples = 10, .frames = 20, .addresses = 30});
  CHECK(use.samples == 11);
  CHECK(use.frames == 22);
  CHECK(use.addresses == 33);
  CHECK(use.all() == 66);
}
