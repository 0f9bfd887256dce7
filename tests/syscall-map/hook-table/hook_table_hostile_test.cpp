// The C reader on tables that are damaged, hostile or of another version.

#include <random>

#include <catch2/catch.hpp>
#include <coldtrace/hook_table.h>

#include "fixtures/builders/hook_tables.hpp"
#include "fixtures/builders/read_hook_table.hpp"
#include "hook_table_test.hpp"
#include "reader_1_0/reader.hpp"

namespace coldtrace {
namespace {

TEST_CASE("every truncation and every wrong bit of a table is refused") {
  const auto bytes = encode(fixtures::make_hook_tables(2, 2));
  REQUIRE(bytes.size() > 1000);
  coldtrace_hook_table table;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const ExactCopy cut{core::ByteView{bytes}.first(size)};
    if (coldtrace_hook_open(&table, cut.view().data(), size) == COLDTRACE_HOOK_OK)
      FAIL_CHECK("cut at " << size);
  }
  auto bent = bytes;
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bent[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    if (coldtrace_hook_open(&table, bent.data(), bent.size()) == COLDTRACE_HOOK_OK)
      FAIL_CHECK("bit " << bit);
    bent[bit / 8] = bytes[bit / 8];
  }
}

TEST_CASE("a hostile table with a right CRC leads nowhere outside itself") {
  const auto bytes = encode(fixtures::make_hook_tables(2, 2));
  REQUIRE(fixtures::read_hook_table(bytes) != 0);
  REQUIRE(u32_at(bytes, entry_of(bytes, "TPNT") + 16) > 1);
  std::mt19937 random{7};
  constexpr u32 nasty[] = {0, 1, 0x7fff'ffff, 0x8000'0000, 0xffff'fffe, 0xffff'ffff};
  for (std::size_t offset = 0; offset + 4 <= bytes.size(); offset += 4)
    for (const u32 value : nasty) {
      auto bent = bytes;
      put_u32(bent, offset, value);
      if (offset != 16) mend_crc(bent);
      fixtures::read_hook_table(ExactCopy{bent}.view());
    }
  for (u32 round = 0; round < 4000; ++round) {
    auto bent = bytes;
    for (u32 i = 0; i < 1 + round % 16; ++i)
      bent[random() % bent.size()] = static_cast<std::byte>(random());
    const auto size = round % 4 == 0 ? random() % bent.size() : bent.size();
    bent.resize(size);
    if (size >= 32) {
      put_u32(bent, 12, static_cast<u32>(size));
      mend_crc(bent);
    }
    fixtures::read_hook_table(ExactCopy{bent}.view());
  }
}

TEST_CASE("another version is refused, an addition to this one is not") {
  auto bytes = encode(fixtures::make_hook_tables(2, 2));
  coldtrace_hook_table table;
  const auto open = [&](Bytes bent) {
    mend_crc(bent);
    return coldtrace_hook_open(&table, bent.data(), bent.size());
  };
  auto later = bytes;
  later[8] = std::byte{2};
  CHECK(open(later) == COLDTRACE_HOOK_UNSUPPORTED);
  auto earlier = bytes;
  earlier[8] = std::byte{0};
  CHECK(open(earlier) == COLDTRACE_HOOK_UNSUPPORTED);
  CHECK(std::string_view{coldtrace_hook_status_text(COLDTRACE_HOOK_UNSUPPORTED)} ==
        "a hook table of another version, or with a part that this reader must know and does not");
  auto minor = bytes;
  minor[10] = std::byte{9};
  CHECK(open(minor) == COLDTRACE_HOOK_OK);
  // A table of sections with one more entry, at the end of the file.
  auto more = bytes;
  const auto count = u32_at(bytes, 20);
  put_u32(more, 24, static_cast<u32>(more.size()));
  put_u32(more, 20, count + 1);
  for (std::size_t i = 32; i < 32 + count * 20; ++i) more.push_back(bytes[i]);
  const auto entry = more.size();
  more.resize(entry + 20);
  put_u32(more, entry, 0x2157'454e);
  put_u32(more, entry + 12, 12);
  put_u32(more, 12, static_cast<u32>(more.size()));
  CHECK(open(more) == COLDTRACE_HOOK_OK);
  put_u32(more, entry + 4, 1);
  CHECK(open(more) == COLDTRACE_HOOK_UNSUPPORTED);
}

TEST_CASE("a reader of version 1.0 refuses a table with trace points, and says so") {
  auto tables = fixtures::make_hook_tables(2, 2);
  const auto later = encode(tables);
  const auto status = test::open_with_reader_1_0(later.data(), later.size());
  CHECK(status == COLDTRACE_HOOK_UNSUPPORTED);
  CHECK(std::string_view{test::words_of_reader_1_0(status)} ==
        "a hook table of a later version, which this reader must not use");
  for (auto& table : tables) table.trace_points.clear();
  const auto plain = encode(tables);
  CHECK(test::open_with_reader_1_0(plain.data(), plain.size()) == COLDTRACE_HOOK_OK);
}

TEST_CASE("trace points whose section or range is not there are none") {
  const auto bytes = encode(fixtures::make_hook_tables(2, 2));
  coldtrace_hook_table table;
  coldtrace_hook_build build;
  coldtrace_hook_trace_point point;
  const auto look = [&](Bytes bent) {
    mend_crc(bent);
    const ExactCopy copy{bent};
    REQUIRE(coldtrace_hook_open(&table, copy.view().data(), copy.view().size()) ==
            COLDTRACE_HOOK_OK);
    REQUIRE(coldtrace_hook_get_build(&table, 0, &build) == COLDTRACE_HOOK_OK);
    return coldtrace_hook_get_trace_point(&table, &build, 0, &point);
  };
  // Without bit 0, a section of another name is passed over.
  auto nameless = bytes;
  put_u32(nameless, entry_of(bytes, "TPNT") + 4, 0);
  put_u32(nameless, entry_of(bytes, "TPNT"), 0x2020'2020);
  const auto status = look(nameless);
  CHECK(status ==
        (build.trace_points.count > 0 ? COLDTRACE_HOOK_DAMAGED : COLDTRACE_HOOK_NOT_FOUND));
  auto far = bytes;
  const auto builds = u32_at(bytes, entry_of(bytes, "BLDS") + 8);
  put_u32(far, builds + 72, 0xffff'ff00);
  put_u32(far, builds + 76, 0x100);
  CHECK(look(far) == COLDTRACE_HOOK_DAMAGED);
  CHECK(coldtrace_hook_find_trace_point(&table, &build, 0x1000, &point) == COLDTRACE_HOOK_DAMAGED);
}

TEST_CASE("the identity of a loaded image is read from its headers, and from nothing else") {
  std::vector<u8> headers(4096);
  headers[0] = 'M';
  headers[1] = 'Z';
  headers[60] = 0x80;
  const auto put = [&](std::size_t offset, u32 value) {
    for (std::size_t i = 0; i < 4; ++i)
      headers[0x80 + offset + i] = static_cast<u8>(value >> 8 * i);
  };
  put(0, 0x4550);
  put(4, 0x1234'8664);
  put(8, 0x1111'1111);        // TimeDateStamp
  put(24 + 56, 0x2222'2222);  // SizeOfImage
  put(24 + 64, 0x3333'3333);  // CheckSum
  coldtrace_hook_identity identity;
  const auto read = [&](std::size_t size) {
    const std::vector<u8> exact(headers.begin(), headers.begin() + static_cast<i64>(size));
    return coldtrace_hook_read_identity(exact.data(), exact.size(), &identity);
  };
  REQUIRE(read(4096) == COLDTRACE_HOOK_OK);
  CHECK(identity.machine == 0x8664);
  CHECK(identity.time_date_stamp == 0x1111'1111);
  CHECK(identity.size_of_image == 0x2222'2222);
  CHECK(identity.checksum == 0x3333'3333);
  for (std::size_t size = 0; size < 0x80 + 92; ++size)
    REQUIRE(read(size) == COLDTRACE_HOOK_BAD_ARGUMENT);
  CHECK(read(0x80 + 92) == COLDTRACE_HOOK_OK);
  headers[63] = 0xff;
  CHECK(read(4096) == COLDTRACE_HOOK_BAD_ARGUMENT);
}

}  // namespace
}  // namespace coldtrace
