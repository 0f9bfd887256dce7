#include "core/crc32.hpp"

#include <string_view>

#include <catch2/catch.hpp>

#include "fixtures/byte_writer.hpp"

namespace coldtrace {
namespace {

core::ByteView bytes_of(std::string_view text) {
  return std::as_bytes(std::span{text});
}

// Sources: the check values of the CRC catalogue, and RFC 3720, B.4.
TEST_CASE("both CRCs give their published check values") {
  CHECK(core::crc32(bytes_of("123456789")) == 0xcbf4'3926);
  CHECK(core::crc32c(bytes_of("123456789")) == 0xe306'9283);
  CHECK(core::crc32c(bytes_of(std::string(32, '\0'))) == 0x8a91'36aa);
  CHECK(core::crc32c(bytes_of(std::string(32, '\xff'))) == 0x62a8'ab43);
  CHECK(core::crc32c({}) == 0);
}

TEST_CASE("a CRC goes on where another ended") {
  CHECK(core::crc32c(bytes_of("6789"), core::crc32c(bytes_of("12345"))) == 0xe306'9283);
}

}  // namespace
}  // namespace coldtrace
