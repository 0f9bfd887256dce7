#include "coldtrace/digests/digest.hpp"

#include <array>

#include <catch2/catch.hpp>

using namespace coldtrace;
using namespace coldtrace::digests;

namespace {

core::ByteView bytes(std::string_view text) {
  return std::as_bytes(std::span{text});
}

}  // namespace

// Source: RFC 1321 (A.5), FIPS 180-4's examples of "abc".
TEST_CASE("digests are those of the standards, whatever the pieces") {
  struct Row {
    std::string_view algorithm, digest;
  };
  const auto row = GENERATE(values<Row>({
      {"md5", "900150983cd24fb0d6963f7d28e17f72"},
      {"sha1", "a9993e364706816aba3e25717850c26c9cd0d89d"},
      {"sha256", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
  }));
  CAPTURE(row.algorithm);
  CHECK(compute_digest(row.algorithm, std::array{bytes("abc")}) == row.digest);
  auto digest = Digest::make(row.algorithm);
  REQUIRE(digest);
  for (const int time : {1, 2}) {
    CAPTURE(time);
    digest->add(bytes("a"));
    digest->add({});
    digest->add(bytes("bc"));
    CHECK(digest->take() == row.digest);
  }
}

TEST_CASE("of an unknown algorithm there is no digest") {
  CHECK_FALSE(Digest::make("md4"));
  CHECK_FALSE(compute_digest("crc32", {}));
}
