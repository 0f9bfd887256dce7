#include "syscall-map/stubs/stub_pattern.hpp"

#include <catch2/catch.hpp>

#include "fixtures/builders/pe_image.hpp"

namespace coldtrace {
namespace {

using fixtures::to_bytes;
using syscall_map::StubPattern;

TEST_CASE("a pattern reads its fields where it says, low byte first") {
  constexpr StubPattern pattern{"B8 nn nn nn nn BA vv vv vv vv E8 rr rr rr rr C2 aa aa"};
  const auto code = to_bytes({0xb8, 0x34, 0x12, 0x01, 0x00, 0xba, 0x78, 0x56, 0x34, 0x12, 0xe8,
                              0xfb, 0xff, 0xff, 0xff, 0xc2, 0x10, 0x01});
  const auto match = pattern.match(code);
  REQUIRE(match);
  CHECK(match->immediate == 0x11234);
  CHECK(match->address == 0x12345678);
  CHECK(match->address_at == 6);
  CHECK(match->displacement_target == 10);  // five bytes back from the end of the call, at 15
  CHECK(match->argument_bytes == 0x110);
  CHECK(match->length == code.size());
}

TEST_CASE("ret is either of two returns") {
  constexpr StubPattern pattern{"B8 nn nn nn nn ret"};
  const auto plain = pattern.match(to_bytes({0xb8, 1, 0, 0, 0, 0xc3}));
  REQUIRE(plain);
  CHECK(plain->argument_bytes == 0);
  CHECK(plain->length == 6);
  const auto counted = pattern.match(to_bytes({0xb8, 1, 0, 0, 0, 0xc2, 0x2c, 0x00}));
  REQUIRE(counted);
  CHECK(counted->argument_bytes == 0x2c);
  CHECK(counted->length == 8);
  CHECK_FALSE(pattern.match(to_bytes({0xb8, 1, 0, 0, 0, 0xcb})));
}

TEST_CASE("a bare return removes nothing, and what has none says nothing of the stack") {
  constexpr StubPattern bare{"B8 nn nn nn nn zz 90"};
  const auto match = bare.match(to_bytes({0xb8, 1, 0, 0, 0, 0xc3, 0x90}));
  REQUIRE(match);
  CHECK(match->argument_bytes == 0);
  CHECK_FALSE(bare.match(to_bytes({0xb8, 1, 0, 0, 0, 0xc2, 0x90})));
  constexpr StubPattern none{"B8 nn nn nn nn 0F 05"};
  const auto other = none.match(to_bytes({0xb8, 1, 0, 0, 0, 0x0f, 0x05}));
  REQUIRE(other);
  CHECK_FALSE(other->argument_bytes);
  CHECK(other->address_at == 0);
  CHECK(other->displacement_target == 0);
}

TEST_CASE("a pattern needs every byte") {
  constexpr StubPattern pattern{"4C 8B D1 B8 nn nn nn nn .. ret"};
  const auto code = to_bytes({0x4c, 0x8b, 0xd1, 0xb8, 1, 2, 3, 4, 0x99, 0xc2, 8, 0});
  REQUIRE(pattern.match(code));
  for (std::size_t cut = 0; cut < code.size(); ++cut)
    CHECK_FALSE(pattern.match(core::ByteView{code}.first(cut)));
}

}  // namespace
}  // namespace coldtrace
