#include <random>

#include <catch2/catch.hpp>

#include "coldtrace/core/lznt1.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/core/xpress_huffman.hpp"
#include "fixtures/builders/compressors.hpp"
#include "fixtures/builders/same_bytes.hpp"
#include "tracefile/compression/xpress.hpp"

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
    {"XPRESS_HUFF", fixtures::compress_xpress_huffman, core::decompress_xpress_huffman},
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

// Plain LZ77 a byte at a time, after the pseudo code of MS-XCA 2.4.4; nothing when it is damaged.
std::optional<std::vector<std::byte>> unpack_slowly(core::ByteView in, std::size_t room) {
  std::vector<std::byte> out;
  std::size_t at = 0;
  std::size_t nibble_at = 0;
  u32 flags = 0;
  int left = 0;
  const auto read = [&](std::size_t size) -> std::optional<std::size_t> {
    if (in.size() - at < size) return std::nullopt;
    std::size_t value = 0;
    for (std::size_t i = 0; i < size; ++i)
      value |= std::to_integer<std::size_t>(in[at + i]) << (8 * i);
    at += size;
    return value;
  };
  while (out.size() < room && at < in.size()) {
    if (left == 0) {
      const auto word = read(4);
      if (!word) return std::nullopt;
      flags = static_cast<u32>(*word);
      left = 32;
      continue;
    }
    --left;
    if ((flags >> left & 1U) == 0) {
      out.push_back(in[at++]);
      continue;
    }
    const auto token = read(2);
    if (!token) return std::nullopt;
    std::size_t length = *token % 8;
    if (length == 7) {
      if (nibble_at == 0) {
        nibble_at = at;
        const auto pair = read(1);
        if (!pair) return std::nullopt;
        length = *pair % 16;
      } else {
        length = std::to_integer<std::size_t>(in[nibble_at]) / 16;
        nibble_at = 0;
      }
      if (length == 15) {
        auto more = read(1);
        if (more == 255U) {
          more = read(2);
          if (more == 0U) more = read(4);
          if (!more || *more < 15 + 7) return std::nullopt;
          *more -= 15 + 7;
        }
        if (!more) return std::nullopt;
        length = *more + 15;
      }
      length += 7;
    }
    const std::size_t distance = *token / 8 + 1;
    if (distance > out.size()) return std::nullopt;
    for (length += 3; length > 0 && out.size() < room; --length)
      out.push_back(out[out.size() - distance]);
  }
  return out;
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
  const auto result = core::decompress_xpress_huffman(compressed, plain, 0);
  CHECK_FALSE(result.damaged);
  CHECK(core::to_chars(plain) == "abcdefghijklmnopqrstuvwxyz");
}

TEST_CASE("LZ77 with Huffman codes may end with the match whose symbol is that of the end") {
  // 'a' is the code 0, a match of 3 bytes at distance 1 the code 1; no bit of it is behind.
  auto compressed = std::vector<std::byte>(256);
  compressed['a' / 2] = std::byte{0x10};
  compressed[256 / 2] = std::byte{0x01};
  for (const auto value : bytes_of({0x00, 0x40, 0x00, 0x00})) compressed.push_back(value);
  std::vector<std::byte> plain(4);
  const auto result = core::decompress_xpress_huffman(compressed, plain, 0);
  CHECK_FALSE(result.damaged);
  CHECK(core::to_chars(plain).substr(0, result.size) == "aaaa");
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
      REQUIRE(fixtures::same_bytes(out, plain));
      std::vector<std::byte> beginning(size / 2);
      REQUIRE(format.decompress(packed, beginning, 0).size == size / 2);
      REQUIRE(fixtures::same_bytes(beginning, ByteView{plain}.first(size / 2)));
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
    REQUIRE(fixtures::same_bytes(ByteView{out}.first(certain), ByteView{plain}.first(certain)));
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

TEST_CASE("blocks at a time give what bytes at a time give, of good data and of any") {
  std::minstd_rand random{7};
  const auto below = [&](u32 limit) { return static_cast<u32>(random()) % limit; };
  std::size_t damaged = 0;
  for (int round = 0; round < 3000; ++round) {
    // Repetitions of all distances and lengths, also very long ones.
    std::vector<std::byte> plain;
    while (plain.size() < 600 + below(4000)) {
      if (below(2) == 0 || plain.empty()) {
        for (u32 i = below(40); i > 0; --i) plain.push_back(static_cast<std::byte>(below(256)));
        plain.push_back(std::byte{1});
      } else {
        const auto distance = 1 + below(std::min<u32>(static_cast<u32>(plain.size()), 80));
        const u32 longest = below(50) == 0 ? 70'000 : 60;
        for (u32 i = below(longest); i > 0; --i) plain.push_back(plain[plain.size() - distance]);
      }
    }
    auto packed = fixtures::compress_xpress(plain);
    if (round % 3 != 0)
      for (u32 i = 1 + below(3); i > 0; --i)
        packed[below(static_cast<u32>(packed.size()))] = static_cast<std::byte>(below(256));
    const auto room = round % 2 == 0 ? plain.size() : below(static_cast<u32>(plain.size()) + 300);
    const auto expected = unpack_slowly(packed, room);
    std::vector<std::byte> out(room);
    const auto result = decompress_xpress(packed, out, 0);
    REQUIRE(result.damaged == !expected.has_value());
    if (!expected) {
      ++damaged;
      continue;
    }
    REQUIRE(result.size == expected->size());
    REQUIRE(fixtures::same_bytes(*expected, ByteView{out}.first(expected->size())));
    if (round % 3 == 0 && room == plain.size()) REQUIRE(fixtures::same_bytes(out, plain));
  }
  CHECK(damaged > 100);
}

}  // namespace coldtrace::tracefile
