#include "coldtrace/core/image_source.hpp"

#include <array>
#include <cerrno>
#include <type_traits>
#include <vector>

#include <catch2/catch.hpp>

#include "fixtures/builders/byte_writer.hpp"
#include "fixtures/builders/failing_image.hpp"

namespace coldtrace {
namespace {

using Bytes = std::vector<std::byte>;
static_assert(std::is_constructible_v<core::MemoryImage, const Bytes&>);
static_assert(std::is_constructible_v<core::MemoryImage, core::ByteView>);
static_assert(!std::is_constructible_v<core::MemoryImage, Bytes>);
static_assert(!std::is_constructible_v<core::MemoryImage, std::array<std::byte, 8>>);

const fixtures::ByteWriter sixteen = fixtures::ByteWriter{}.write_u64(1).write_u64(2);

TEST_CASE("a memory image refuses ranges that are not inside it") {
  const core::MemoryImage image{sixteen.view()};
  std::array<std::byte, 8> bytes{};
  CHECK(image.read_at(8, bytes));
  CHECK(bytes[0] == std::byte{2});
  CHECK(image.read_at(16, std::span<std::byte>{}));
  for (const u64 offset : {u64{9}, u64{17}, ~u64{0}}) {
    const auto result = image.read_at(offset, bytes);
    REQUIRE_FALSE(result);
    CHECK(result.error().fault == core::Fault::out_of_bounds);
    CHECK(result.error().offset == offset);
  }
}

TEST_CASE("images have the same bytes where both can be read and are equal") {
  const core::MemoryImage image{sixteen.view()};
  const core::MemoryImage half{sixteen.view().first(8)};
  const fixtures::FailingImage failing{image, {{4, 2}}};
  CHECK(core::has_same_bytes(image, image) == true);
  CHECK(core::has_same_bytes(image, half) == false);
  CHECK_FALSE(core::has_same_bytes(image, failing).has_value());
  CHECK(core::has_same_bytes(image, 6, failing, 6, 10) == true);
  CHECK(core::has_same_bytes(image, 1, image, 9, 7) == true);  // the zeros of both numbers
  CHECK(core::has_same_bytes(image, 0, image, 8, 1) == false);
  CHECK_FALSE(core::has_same_bytes(image, 12, half, 4, 8).has_value());
}

TEST_CASE("the first read error of an image is found") {
  constexpr u64 window = u64{1} << 20;
  const std::vector<std::byte> bytes(2 * window + 3);
  const core::MemoryImage image{bytes};
  CHECK_FALSE(core::find_read_error(image));
  CHECK_FALSE(core::find_read_error(core::MemoryImage{core::ByteView{}}));
  for (const u64 bad : {u64{0}, window - 1, window, 2 * window + 2}) {
    const auto error = core::find_read_error(fixtures::FailingImage{image, {{bad, 1}}});
    REQUIRE(error);
    CHECK(error->found == EIO);
  }
}

TEST_CASE("a failing image fails exactly where a read touches its bad range") {
  const core::MemoryImage image{sixteen.view()};
  const fixtures::FailingImage failing{image, {{4, 2}}};
  for (u64 offset = 0; offset < 16; ++offset) {
    for (u64 length = 0; length <= 16 - offset; ++length) {
      std::array<std::byte, 16> bytes{};
      const bool touches = length > 0 && offset < 6 && offset + length > 4;
      const auto result = failing.read_at(offset, std::span{bytes}.first(length));
      REQUIRE(result.has_value() == !touches);
      if (!result) REQUIRE(result.error().found == EIO);
    }
  }
}

}  // namespace
}  // namespace coldtrace
