#include "syscall-map/code/relocated_size.hpp"

#include <catch2/catch.hpp>

#include "coldtrace/syscall-map/boundary_state.hpp"
#include "coldtrace/syscall-map/confidence.hpp"

using namespace coldtrace;
using namespace coldtrace::syscall_map;

// Source: Microsoft, "PE Format", base relocation types.
TEST_CASE("a relocation adjusts as many bytes as its type says") {
  CHECK(relocated_size(pe::RelocationType::dir64) == 8);
  CHECK(relocated_size(pe::RelocationType::highlow) == 4);
  CHECK(relocated_size(pe::RelocationType::high) == 2);
  CHECK(relocated_size(pe::RelocationType::low) == 2);
}

TEST_CASE("what is known of code has the words that outputs have for it") {
  CHECK(to_string(BoundaryState::proved) == "proved");
  CHECK(to_string(BoundaryState::refuted) == "refuted");
  CHECK(to_string(Confidence::low) == "low");
  CHECK(to_string(Confidence::high) == "high");
}
