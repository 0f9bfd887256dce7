#include "coldtrace/core/crc32c.hpp"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

using namespace coldtrace;

TEST_CASE("crc32c of the vectors of RFC 3720 appendix B.4", "[crc32c]") {
  std::vector<std::byte> bytes(32);
  CHECK(core::crc32c(bytes) == 0x8a91'36aa);
  for (auto& byte : bytes) byte = std::byte{0xff};
  CHECK(core::crc32c(bytes) == 0x62a8'ab43);
  for (std::size_t i = 0; i < 32; ++i) bytes[i] = static_cast<std::byte>(i);
  CHECK(core::crc32c(bytes) == 0x46dd'794e);
  for (std::size_t i = 0; i < 32; ++i) bytes[i] = static_cast<std::byte>(31 - i);
  CHECK(core::crc32c(bytes) == 0x113f'db5c);
}

TEST_CASE("crc32c in parts is that of the whole", "[crc32c]") {
  const std::string text = "123456789";
  const auto bytes = std::as_bytes(std::span{text});
  CHECK(core::crc32c(bytes) == 0xe306'9283);  // the check value of CRC catalogues
  for (std::size_t cut = 0; cut <= text.size(); ++cut)
    CHECK(core::crc32c(core::crc32c(bytes.first(cut)), bytes.subspan(cut)) == 0xe306'9283);
}
