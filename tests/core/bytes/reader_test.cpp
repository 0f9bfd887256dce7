#include "coldtrace/core/reader.hpp"

#include <array>
#include <type_traits>
#include <vector>

#include <catch2/catch.hpp>

#include "fixtures/builders/byte_writer.hpp"

namespace coldtrace {
namespace {

using core::Fault;

// What has a name or is a view is kept; bytes that end with the statement are not.
using Bytes = std::vector<std::byte>;
static_assert(std::is_constructible_v<core::Reader, Bytes&, core::Name, u64>);
static_assert(std::is_constructible_v<core::Reader, core::ByteView, core::Name, u64>);
static_assert(std::is_constructible_v<core::Reader, std::array<std::byte, 8>&, core::Name, u64>);
static_assert(!std::is_constructible_v<core::Reader, Bytes, core::Name, u64>);
static_assert(!std::is_constructible_v<core::Reader, std::array<std::byte, 8>, core::Name, u64>);

const fixtures::ByteWriter eight =
    fixtures::ByteWriter{}.write_u32(0x04030201).write_u32(0x08070605);

TEST_CASE("one byte that is not zero is found wherever it is") {
  const auto size = GENERATE(as<std::size_t>{}, 0, 1, 2, 7, 64, 4097);
  Bytes bytes(size);
  CHECK(core::is_zero(bytes));
  for (std::size_t at = 0; at < size; ++at) {
    bytes[at] = std::byte{1};
    if (core::is_zero(bytes)) FAIL("missed at " << at << " of " << size);
    bytes[at] = std::byte{0};
  }
}

TEST_CASE("slice gives ranges inside the bytes only") {
  struct Row {
    const char* why;
    u64 offset, length;
    bool inside;
  };
  const auto row = GENERATE(values<Row>({
      {"all of it", 0, 8, true},
      {"nothing at the end", 8, 0, true},
      {"one byte over", 0, 9, false},
      {"starts behind the end", 9, 0, false},
      {"the sum wraps to 0", 8, ~u64{0} - 7, false},
      {"the sum wraps inside", ~u64{0}, 2, false},
  }));
  CAPTURE(row.why);
  const auto view = core::slice(eight.view(), row.offset, row.length);
  REQUIRE(view.has_value() == row.inside);
  if (view) CHECK(view->size() == row.length);
}

TEST_CASE("a reader takes fields in order, little-endian") {
  core::Reader in{eight.view(), "structure", 0x100};
  CHECK(in.read_u8("a") == 0x01);
  CHECK(in.read_u16("b") == 0x0302);
  in.skip(1, "c");
  CHECK(in.offset() == 0x104);
  CHECK(in.read_u32("d") == 0x08070605);
  CHECK(in.remaining() == 0);
  CHECK(in.finish(1) == 1);
}

TEST_CASE("the first failure stays, with its place and sizes") {
  core::Reader in{eight.view(), "structure", 0x100};
  in.read_u32("fits");
  CHECK(in.read_u64("first") == 0);
  CHECK(in.read_u8("would fit, comes too late") == 0);
  const auto result = in.finish(0);
  REQUIRE_FALSE(result);
  CHECK(result.error().fault == Fault::truncated);
  CHECK(result.error().offset == 0x104);
  CHECK(result.error().field.view() == "first");
  CHECK(result.error().expected == 8);
  CHECK(result.error().found == 4);
}

TEST_CASE("a constant that differs is a failure at its own offset") {
  core::Reader in{eight.view(), "structure", 0};
  in.expect<u8>(0x01, "same");
  in.expect<u16>(0xaa55, "Signature");
  const auto result = in.finish(0);
  REQUIRE_FALSE(result);
  CHECK(result.error().fault == Fault::bad_magic);
  CHECK(result.error().offset == 1);
  CHECK(result.error().expected == 0xaa55);
  CHECK(result.error().found == 0x0302);
}

TEST_CASE("fields are loaded where the bytes reach") {
  CHECK_FALSE(core::Fields<9>::at(eight.view(), 0));
  CHECK_FALSE(core::Fields<8>::at(eight.view(), 1));
  const auto fields = core::Fields<8>::at(eight.view(), 0);
  REQUIRE(fields);
  CHECK(fields->get<u16, 2>() == 0x0403);
  CHECK(fields->bytes<6, 2>().size() == 2);
  CHECK(core::load<u16>(eight.view(), 6) == 0x0807);
  CHECK_FALSE(core::load<u16>(eight.view(), 7));
}

}  // namespace
}  // namespace coldtrace
