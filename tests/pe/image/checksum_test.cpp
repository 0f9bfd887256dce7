#include "coldtrace/pe/checksum.hpp"

#include "coldtrace/pe/headers.hpp"
#include "fixtures/builders/byte_writer.hpp"
#include "tests/pe/pe_test.hpp"

namespace coldtrace {
namespace {

// The definition, word by word: one's complement sum with the field as zero, plus the size.
u32 slow_checksum(fixtures::Bytes file, std::size_t offset) {
  std::fill_n(file.begin() + static_cast<std::ptrdiff_t>(offset), 4, std::byte{0});
  u32 sum = 0;
  for (std::size_t at = 0; at < file.size(); at += 2) {
    const u32 high = at + 1 < file.size() ? std::to_integer<u32>(file[at + 1]) << 8 : 0;
    sum += std::to_integer<u32>(file[at]) | high;
    sum = (sum & 0xffff) + (sum >> 16);
  }
  return sum + static_cast<u32>(file.size());
}

TEST_CASE("a checksum is the sum of all words but its own, plus the size") {
  auto file = fixtures::build_pe(test::full_spec()).bytes;
  const auto size = GENERATE(0U, 1U, 2U, 3U);
  file.resize(file.size() - 4 + size);
  for (std::size_t i = 0; i < file.size(); i += 3) file[i] ^= static_cast<std::byte>(i * 7);
  const auto offset = GENERATE(std::size_t{0xd8}, std::size_t{0xda}, std::size_t{0xd9});
  CHECK(pe::compute_checksum(file, offset) == slow_checksum(file, offset));
}

TEST_CASE("a sum that carries twice is folded twice") {
  // 0xffff and 1 are 0x10000, whose carry is 1; then comes the field.
  const auto file = fixtures::ByteWriter{}.write_u16(0xffff).write_u16(1).write_u32(0x1234).bytes();
  CHECK(pe::compute_checksum(file, 4) == 1 + 8);
}

TEST_CASE("a checksum of nothing is nothing") {
  CHECK(pe::compute_checksum({}, 0) == 0);
}

}  // namespace
}  // namespace coldtrace
