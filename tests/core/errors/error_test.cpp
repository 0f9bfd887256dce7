#include "coldtrace/core/error.hpp"

#include <cerrno>

#include <catch2/catch.hpp>

namespace coldtrace {
namespace {

TEST_CASE("an error names offset, structure, field, expected and found") {
  const core::ParseError error{core::Fault::truncated, 0x180, "IMAGE_SECTION_HEADER",
                               "VirtualSize",          4,     2};
  CHECK(core::to_string(error) ==
        "0x180: IMAGE_SECTION_HEADER.VirtualSize: truncated: expected 0x4, found 0x2");
}

TEST_CASE("an error says what a structure has not, and no numbers") {
  const core::ParseError error{core::Fault::missing, 0x6000, "FILE record", "$DATA", 1, 0};
  CHECK(core::to_string(error) == "0x6000: FILE record has no $DATA");
}

TEST_CASE("an error of the operating system says what it said") {
  const core::ParseError error{core::Fault::io, 0, "file", "open", 0, ENOENT};
  CHECK(core::to_string(error) == "cannot read: No such file or directory");
}

}  // namespace
}  // namespace coldtrace
