#include "ntfs/bitlocker/conversion_bitmaps.hpp"

#include <array>
#include <cstring>

#include <catch2/catch.hpp>

using namespace coldtrace;

TEST_CASE("a list of bitmaps that ends behind its volume is not read") {
  constexpr u64 size = 0x400, left = 0x40;
  std::vector<std::byte> bytes(size);
  std::memcpy(bytes.data() + size - left, "FVE-EOW", 8);
  bytes[size - left + 10] = static_cast<std::byte>(left + 8);
  const core::MemoryImage image{bytes};
  ntfs::BitLockerMetadata metadata{.volume = {0, size}};
  core::Findings findings;
  ntfs::read_conversion_bitmaps(image, std::array{size - left}, metadata, findings);
  CHECK(metadata.bitmaps.empty());
  CHECK(metadata.zeros.empty());
  REQUIRE(findings.count("bitlocker-conversion") == 1);
  CHECK(findings.has_warnings());
}
