#include "coldtrace/core/lzx.hpp"

#include <vector>

#include <catch2/catch.hpp>

#include "coldtrace/core/text.hpp"

using namespace coldtrace;

// Streams of a compressor are held against tests/cli/trace/schemas/trace_image_schemas.py; blocks
// that are stored, which it never makes, are written here by [MS-PATCH].
namespace {

std::vector<std::byte> bytes_of(std::initializer_list<unsigned> values) {
  std::vector<std::byte> bytes;
  for (const auto value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

// Type 3 in three bits, a bit for another size than usual, the size in 16 bits, the rest of the
// word; three offsets, the bytes, and one more behind an odd number of them.
void append_stored(std::vector<std::byte>& stream, std::string_view text) {
  const auto size = static_cast<unsigned>(text.size());
  const unsigned first = 0x6000 | size >> 4;
  const unsigned second = size << 12 & 0xffff;
  for (const auto value : bytes_of({first & 0xff, first >> 8, second & 0xff, second >> 8, 1, 0, 0,
                                    0, 1, 0, 0, 0, 1, 0, 0, 0}))
    stream.push_back(value);
  for (const auto c : text) stream.push_back(static_cast<std::byte>(c));
  if (size % 2 != 0) stream.push_back(std::byte{0});
}

}  // namespace

TEST_CASE("stored blocks of LZX follow each other at whole words", "[lzx]") {
  std::vector<std::byte> stream;
  append_stored(stream, "hello");
  append_stored(stream, " my ");
  append_stored(stream, "world");
  std::vector<std::byte> plain(14);
  const auto result = core::decompress_lzx(stream, plain, 0);
  CHECK_FALSE(result.damaged);
  CHECK(core::to_chars(plain) == "hello my world");
}

TEST_CASE("an LZX chunk that ends early is damaged", "[lzx]") {
  std::vector<std::byte> stream;
  append_stored(stream, "hello");
  append_stored(stream, "world");
  std::vector<std::byte> plain(10);
  // The last byte is padding.
  for (std::size_t size = 0; size + 1 < stream.size(); ++size) {
    CAPTURE(size);
    const auto result = core::decompress_lzx(core::ByteView{stream}.first(size), plain, 1000);
    CHECK(result.damaged);
    CHECK(result.error.offset >= 1000);
    CHECK(result.error.offset <= 1000 + size);
  }
}

TEST_CASE("addresses behind calls are relative again", "[lzx]") {
  struct Row {
    std::string_view stored;  // behind "abc" and E8
    std::string_view plain;
    const char* why;
  };
  using namespace std::string_view_literals;
  // At byte 3: an address from -3 to 12,000,000 less 1 counts.
  const Row rows[] = {
      {"\x00\x01\x00\x00"sv, "\xfd\x00\x00\x00"sv, "100 less 3"},
      {"\x01\x00\x00\x00"sv, "\xfe\xff\xff\xff"sv, "before it"},
      {"\xfd\xff\xff\xff"sv, "\xfd\x1a\xb7\x00"sv, "-3 is 12,000,000 further"},
      {"\xfc\xff\xff\xff"sv, "\xfc\xff\xff\xff"sv, "-4 is none"},
      {"\x00\x1b\xb7\x00"sv, "\x00\x1b\xb7\x00"sv, "12,000,000 is none"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.why);
    const auto text = std::string{"abc\xe8"}.append(row.stored).append("0123456789");
    std::vector<std::byte> stream;
    append_stored(stream, text);
    std::vector<std::byte> plain(text.size());
    CHECK_FALSE(core::decompress_lzx(stream, plain, 0).damaged);
    CHECK(core::to_chars(plain).substr(4, 4) == row.plain);
  }
}

TEST_CASE("calls in the last ten bytes of an LZX chunk stay as they are", "[lzx]") {
  for (const std::size_t behind : {9U, 10U}) {
    const auto text = std::string("ab\xe8\x01\0\0\0", 7).append(behind - 4, 'x');
    std::vector<std::byte> stream;
    append_stored(stream, text);
    std::vector<std::byte> plain(text.size());
    CHECK_FALSE(core::decompress_lzx(stream, plain, 0).damaged);
    CHECK((core::to_chars(plain) == text) == (behind == 9));
  }
}

TEST_CASE("blocks that cannot be are damage", "[lzx]") {
  std::vector<std::byte> plain(100);
  const auto field_of = [&](std::initializer_list<unsigned> values) {
    const auto stream = bytes_of(values);
    const auto result = core::decompress_lzx(stream, plain, 0);
    return result.damaged ? result.error.field.view() : "";
  };
  CHECK(field_of({0, 0, 0, 0}) == "block size");              // 0 bytes
  CHECK(field_of({0, 0x10, 0, 0}) == "block size");           // 0x8000
  CHECK(field_of({0x02, 0, 0, 0x80, 0, 0}) == "block type");  // 0
  CHECK(field_of({0x02, 0x20, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}) == "code of lengths");
}
