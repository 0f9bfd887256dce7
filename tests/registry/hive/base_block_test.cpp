#include "coldtrace/registry/hive/base_block.hpp"

#include <catch2/catch.hpp>

#include "coldtrace/registry/hive/value.hpp"
#include "fixtures/builders/byte_writer.hpp"

using namespace coldtrace;
using namespace coldtrace::registry;

namespace {

// Source: M. Suhanov, "Windows registry file format specification", base block.
fixtures::ByteWriter block(u32 primary, u32 secondary) {
  fixtures::ByteWriter bytes;
  bytes.write_text("regf").write_u32(primary).write_u32(secondary).write_u64(0x01d5'0000'0000'0000);
  bytes.write_u32(1).write_u32(5).write_u32(0).write_u32(1).write_u32(0x20).write_u32(0x1000);
  bytes.write_u32(1).write_bytes(std::as_bytes(std::span{u"SYSTEM", 6})).pad_to(508);
  u32 checksum = 0;
  for (std::size_t at = 0; at < 508; at += 4)
    checksum ^= core::load<u32>(bytes.view(), at).value_or(0);
  return bytes.write_u32(checksum).pad_to(4096);
}

std::vector<std::byte> units(std::u16string_view text) {
  const auto bytes = std::as_bytes(std::span{text});
  return {bytes.begin(), bytes.end()};
}

}  // namespace

TEST_CASE("a base block has its fields, and is dirty by numbers or checksum") {
  const auto clean = read_base_block(block(7, 7).view());
  REQUIRE(clean);
  CHECK(clean->primary_sequence == 7);
  CHECK(clean->minor_version == 5);
  CHECK(clean->root == 0x20);
  CHECK(clean->bins_size == 0x1000);
  CHECK(clean->name == "SYSTEM");
  CHECK(clean->has_checksum());
  CHECK_FALSE(clean->is_dirty());
  const auto numbers = read_base_block(block(8, 7).view());
  REQUIRE(numbers);
  CHECK(numbers->has_checksum());
  CHECK(numbers->is_dirty());
  const auto damaged = read_base_block(block(7, 7).patch<u32>(36, 0x40).view());
  REQUIRE(damaged);
  CHECK_FALSE(damaged->has_checksum());
  CHECK(damaged->is_dirty());
}

TEST_CASE("the checksum is never 0 and never all ones") {
  fixtures::ByteWriter zeros;
  zeros.write_zeros(512);
  CHECK(base_block_checksum(zeros.view()) == 1);
  CHECK(base_block_checksum(zeros.patch<u32>(100, ~u32{0}).view()) == 0xffff'fffe);
  CHECK(base_block_checksum(zeros.patch<u32>(104, 5).view()) == 0xffff'fffa);
}

TEST_CASE("another signature, or less than a sector, is not a base block") {
  CHECK_FALSE(read_base_block(block(7, 7).patch<u8>(0, 'x').view()));
  CHECK_FALSE(read_base_block(block(7, 7).view().first(511)));
}

TEST_CASE("values are what their data has, whatever their type promises") {
  const Value several{"a", ValueType::multi_text, units({u"one\0\0two\0\0", 10})};
  CHECK(several.text() == "one");
  CHECK(several.texts() == std::vector<std::string>{"one", "two"});
  const Value lacking{"b", ValueType::text, units(u"text")};  // no NUL
  CHECK(lacking.text() == "text");
  const Value number{"c", ValueType::dword, {std::byte{1}, std::byte{2}, {}, {}}};
  CHECK(number.number() == 0x201);
  CHECK(number.text().empty());
  const Value big{"d", ValueType::dword_big_endian, {{}, {}, std::byte{2}, std::byte{1}}};
  CHECK(big.number() == 0x201);
}
