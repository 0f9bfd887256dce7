#include <catch2/catch.hpp>

#include "core/lznt1.hpp"
#include "core/text.hpp"
#include "fixtures/compressors.hpp"
#include "tracefile/xpress.hpp"
#include "tracefile/xpress_huffman.hpp"

namespace coldtrace::tracefile {
namespace {

using core::ByteView;

std::vector<std::byte> bytes_of(std::initializer_list<unsigned> values) {
  std::vector<std::byte> bytes;
  for (const auto value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

struct Format {
  const char* name;
  std::vector<std::byte> (*compress)(ByteView);
  core::Decompressed (*decompress)(ByteView, std::span<std::byte>, u64);
};

const Format formats[] = {
    {"XPRESS", fixtures::compress_xpress, decompress_xpress},
    {"XPRESS_HUFF", fixtures::compress_xpress_huffman, decompress_xpress_huffman},
    {"LZNT1", fixtures::compress_lznt1, core::decompress_lznt1},
};

// A generator good enough to be neither constant nor incompressible.
std::vector<std::byte> sample_bytes(std::size_t size, u32 seed) {
  std::vector<std::byte> bytes;
  u32 state = seed * 2654435761U + 1;
  while (bytes.size() < size) {
    state = state * 1664525 + 1013904223;
    const auto run = (state >> 24 & 7U) == 0 ? (state >> 12 & 0x3ffU) : 1;
    const auto back = (state >> 8 & 0xfffU) + 1;
    for (u32 i = 0; i < run && bytes.size() < size; ++i)
      bytes.push_back(run > 1 && bytes.size() >= back ? bytes[bytes.size() - back]
                                                      : static_cast<std::byte>(state >> 16));
  }
  return bytes;
}

}  // namespace

TEST_CASE("plain LZ77 decompresses the examples of MS-XCA") {
  struct Row {
    const char* why;
    std::vector<std::byte> compressed;
    std::string plain;
  };
  std::string repeated;
  for (int i = 0; i < 100; ++i) repeated += "abc";
  auto alphabet = bytes_of({0x3f, 0, 0, 0});
  for (char c = 'a'; c <= 'z'; ++c) alphabet.push_back(static_cast<std::byte>(c));
  const std::vector<Row> rows = {
      {"literals only", alphabet, "abcdefghijklmnopqrstuvwxyz"},
      {"one match with a length in a nibble, a byte and two bytes",
       bytes_of({0xff, 0xff, 0xff, 0x1f, 0x61, 0x62, 0x63, 0x17, 0x00, 0x0f, 0xff, 0x26, 0x01}),
       repeated},
  };
  for (const auto& row : rows) {
    CAPTURE(row.why);
    std::vector<std::byte> plain(row.plain.size());
    const auto result = decompress_xpress(row.compressed, plain, 0);
    CHECK_FALSE(result.damaged);
    CHECK(result.size == plain.size());
    CHECK(core::to_chars(plain) == row.plain);
  }
}

TEST_CASE("LZ77 with Huffman codes decompresses the alphabet of MS-XCA") {
  // Codes of 4 and 5 bits for a to z and the end; the table is given as in the document.
  auto compressed = std::vector<std::byte>(256);
  const auto table = bytes_of(
      {0x50, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x45, 0x44, 0x04});
  std::copy(table.begin(), table.end(), compressed.begin() + 0x30);
  compressed[0x80] = std::byte{0x04};
  const auto stream = bytes_of({0xd8, 0x52, 0x3e, 0xd7, 0x94, 0x11, 0x5b, 0xe9, 0x19, 0x5f,
                                0xf9, 0xd6, 0x7c, 0xdf, 0x8d, 0x04, 0x00, 0x00, 0x00, 0x00});
  compressed.insert(compressed.end(), stream.begin(), stream.end());
  std::vector<std::byte> plain(26);
  const auto result = decompress_xpress_huffman(compressed, plain, 0);
  CHECK_FALSE(result.damaged);
  CHECK(core::to_chars(plain) == "abcdefghijklmnopqrstuvwxyz");
}

TEST_CASE("LZNT1 decompresses the example of MS-XCA") {
  const auto compressed = bytes_of(
      {0x38, 0xb0, 0x88, 0x46, 0x23, 0x20, 0x00, 0x20, 0x47, 0x20, 0x41, 0x00, 0x10, 0xa2, 0x47,
       0x01, 0xa0, 0x45, 0x20, 0x44, 0x00, 0x08, 0x45, 0x01, 0x50, 0x79, 0x00, 0xc0, 0x45, 0x20,
       0x05, 0x24, 0x13, 0x88, 0x05, 0xb4, 0x02, 0x4a, 0x44, 0xef, 0x03, 0x58, 0x02, 0x8c, 0x09,
       0x16, 0x01, 0x48, 0x45, 0x00, 0xbe, 0x00, 0x9e, 0x00, 0x04, 0x01, 0x18, 0x90, 0x00});
  const std::string expected =
      "F# F# G A A G F# E D D E F# F# E E F# F# G A A G F# E D D E F# E D D E E F# D E F# G F# D E "
      "F# G F# E D E A F# F# G A A G F# E D D E F# E D D\0";
  std::vector<std::byte> plain(4096);
  const auto result = core::decompress_lznt1(compressed, plain, 0);
  CHECK_FALSE(result.damaged);
  CHECK(core::to_chars(ByteView{plain}.first(std::min(result.size, expected.size()))) == expected);
}

TEST_CASE("what a compressor packs comes out again, whole and as a beginning") {
  const auto& format = formats[GENERATE(0, 1, 2)];
  CAPTURE(format.name);
  std::size_t largest = 0;
  for (const auto size :
       {1U, 2U, 3U, 31U, 32U, 33U, 100U, 4095U, 4096U, 4097U, 70'000U, 200'000U}) {
    CAPTURE(size);
    for (u32 seed = 0; seed < 3; ++seed) {
      const auto plain =
          seed == 2 ? std::vector<std::byte>(size, std::byte{0x41}) : sample_bytes(size, seed);
      const auto packed = format.compress(plain);
      largest = std::max(largest, packed.size());
      std::vector<std::byte> out(size);
      const auto result = format.decompress(packed, out, 0);
      REQUIRE_FALSE(result.damaged);
      REQUIRE(result.size == size);
      REQUIRE(out == plain);
      std::vector<std::byte> beginning(size / 2);
      REQUIRE(format.decompress(packed, beginning, 0).size == size / 2);
      REQUIRE(std::equal(beginning.begin(), beginning.end(), plain.begin()));
    }
  }
  CHECK(largest > 0);
}

TEST_CASE("cut and flipped compressed data never gives more than it has room for") {
  const auto& format = formats[GENERATE(0, 1, 2)];
  CAPTURE(format.name);
  const auto plain = sample_bytes(3000, 7);
  auto packed = format.compress(plain);
  for (std::size_t cut = 0; cut < packed.size(); cut += 7) {
    std::vector<std::byte> out(plain.size());
    const auto result = format.decompress(ByteView{packed}.first(cut), out, 0);
    REQUIRE(result.size <= out.size());
    if (result.damaged) REQUIRE(result.error.offset <= cut);
    // What came before the cut is right, but for the item that the cut went through.
    const auto certain = result.size > 18 ? result.size - 18 : 0;
    REQUIRE(
        std::equal(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(certain), plain.begin()));
  }
  for (std::size_t at = 0; at < packed.size(); ++at) {
    auto damaged = packed;
    damaged[at] ^= std::byte{0x55};
    std::vector<std::byte> out(plain.size());
    REQUIRE(format.decompress(damaged, out, 0).size <= out.size());
  }
}

TEST_CASE("a match that reaches before the data is damage with its place") {
  const auto compressed = bytes_of({0, 0, 0, 0x80, 0xff, 0xff});
  std::vector<std::byte> plain(10);
  const auto result = decompress_xpress(compressed, plain, 0x100);
  CHECK(result.damaged);
  CHECK(result.size == 0);
  CHECK(result.error.offset == 0x106);
}

}  // namespace coldtrace::tracefile
