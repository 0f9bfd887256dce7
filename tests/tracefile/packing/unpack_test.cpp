#include "coldtrace/tracefile/packing/unpack.hpp"

#include <string>

#include <catch2/catch.hpp>
#include <zlib.h>

using namespace coldtrace;
using namespace coldtrace::tracefile;

namespace {

// A gzip file of one member, by zlib.
std::vector<std::byte> packed(std::string text) {
  std::vector<std::byte> bytes(text.size() + 1024);
  z_stream stream{};
  constexpr int gzip = 15 + 16;
  REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, gzip, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(text.data());  // NOLINT(*-reinterpret-cast)
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());  // NOLINT(*-reinterpret-cast)
  stream.avail_out = static_cast<uInt>(bytes.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  bytes.resize(stream.total_out);
  deflateEnd(&stream);
  return bytes;
}

std::string text_of(const core::ImageSource& source) {
  std::string text(source.size(), '\0');
  REQUIRE(source.read_at(0, std::as_writable_bytes(std::span{text})));
  return text;
}

}  // namespace

TEST_CASE("what is packed alone comes out as it was") {
  const std::string text(100'000, 'x');
  const auto bytes = packed(text);
  core::Findings findings;
  const auto unpacked = unpack(core::MemoryImage{bytes}, core::FileKind::gzip, 1 << 20, findings);
  REQUIRE(unpacked);
  REQUIRE(unpacked->files.size() == 1);
  CHECK(text_of(*unpacked->files[0].bytes) == text);
  CHECK(unpacked->damage.empty());
  CHECK(findings.empty());
}

TEST_CASE("what comes before damage or the limit stays, and a finding says so") {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += std::to_string(i * 7919);
  auto bytes = packed(text);
  u64 limit = u64{1} << 20U;
  SECTION("a cut") {
    bytes.resize(bytes.size() / 2);
  }
  SECTION("a limit") {
    limit = 1000;
  }
  core::Findings findings;
  const auto unpacked = unpack(core::MemoryImage{bytes}, core::FileKind::gzip, limit, findings);
  REQUIRE(unpacked);
  CHECK(findings.has_warnings());
  for (const auto& file : unpacked->files) {
    CHECK(file.bytes->size() < text.size());
    CHECK(text.starts_with(text_of(*file.bytes)));
  }
}

TEST_CASE("the first names of several are told, and how many others there are") {
  CHECK(list_names({"a", "b"}, 2) == "a, b");
  CHECK(list_names({"a", "b"}, 3) == "a, b and 1 other");
  CHECK(list_names({"a", "b"}, 5) == "a, b and 3 others");
}

TEST_CASE("members that are not read are told once, by number and the first names") {
  core::Findings none, one, several;
  note_others({}, none);
  CHECK(none.empty());
  Unpacked unpacked;
  unpacked.others = 1;
  unpacked.other_names = {"a.txt"};
  note_others(unpacked, one);
  REQUIRE(one.count("packed-others") == 1);
  CHECK(one.all().front().text == "1 member is not read: a.txt");
  CHECK_FALSE(one.has_warnings());
  unpacked.others = 3;
  note_others(unpacked, several);
  CHECK(several.all().front().text == "3 members are not read: a.txt and 2 others");
}

TEST_CASE("several files, of which one is wanted, are named as far as there is room") {
  Unpacked unpacked;
  for (int i = 0; i < 10; ++i) unpacked.files.push_back({std::to_string(i), nullptr});
  CHECK(describe_several(unpacked, core::FileKind::zip, "images") ==
        "it is a ZIP archive with several images: 0, 1, 2, 3, 4, 5, 6, 7 and 2 others; unpack it "
        "first");
}

TEST_CASE("without a limit of the user's there is one by the size of the file") {
  constexpr u64 most = u64{64} << 30U;
  CHECK(default_unpacked_limit(0) > 0);
  CHECK(default_unpacked_limit(1 << 20) > default_unpacked_limit(0));
  CHECK(default_unpacked_limit(~u64{0}) == most);
}
