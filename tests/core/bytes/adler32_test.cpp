#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "coldtrace/core/checksums.hpp"

using namespace coldtrace;

// The values are zlib's.
TEST_CASE("adler32 is that of zlib", "[adler32]") {
  const std::string text = "Wikipedia";
  CHECK(core::adler32({}) == 1);
  CHECK(core::adler32(std::as_bytes(std::span{text})) == 0x11e6'0398);
  const std::vector<std::byte> bytes(100'000, std::byte{0xff});
  CHECK(core::adler32(bytes) == 0x149a'302c);
  const auto view = core::ByteView{bytes};
  for (const std::size_t cut : {1U, 5552U, 70'000U})
    CHECK(core::adler32(view.subspan(cut), core::adler32(view.first(cut))) == core::adler32(bytes));
}
