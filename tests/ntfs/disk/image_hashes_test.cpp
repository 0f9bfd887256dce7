#include "coldtrace/ntfs/disk/image_hashes.hpp"

#include <catch2/catch.hpp>

#include "fixtures/builders/failing_image.hpp"

using namespace coldtrace;
using namespace coldtrace::ntfs;

namespace {

// Source: md5sum and sha1sum of 1,500,000 zeros, which are read in two pieces.
constexpr std::size_t size = 1'500'000;
constexpr std::string_view md5 = "e27e438d145b668c1628c713ff1b847a";
constexpr std::string_view sha1 = "e74fe762b9c3d7df32d1254f9f02054ceed06da3";

std::vector<ImageHash> stated(std::string_view first, std::string_view second) {
  return {{"md5", std::string{first}, std::nullopt}, {"sha1", std::string{second}, std::nullopt}};
}

class Amount final : public core::Progress {
 public:
  void add(u64 bytes, u64) override { bytes_ += bytes; }
  u64 bytes() const { return bytes_; }

 private:
  u64 bytes_ = 0;
};

}  // namespace

TEST_CASE("hashes that an image states are held against its bytes") {
  const std::vector<std::byte> bytes(size);
  const core::MemoryImage disk{core::ByteView{bytes}};
  core::Findings findings;
  SECTION("all are right") {
    auto hashes = stated(md5, sha1);
    CHECK_FALSE(hashes[0].matches());
    Amount amount;
    verify_hashes(disk, hashes, &amount, findings);
    CHECK(hashes[0].matches() == true);
    CHECK(hashes[1].matches() == true);
    CHECK(amount.bytes() == size);
    CHECK(findings.empty());
  }
  SECTION("one is that of other bytes") {
    auto hashes = stated(md5, md5);
    verify_hashes(disk, hashes, nullptr, findings);
    CHECK(hashes[0].matches() == true);
    CHECK(hashes[1].matches() == false);
    CHECK(hashes[1].computed == sha1);
    REQUIRE(findings.all().size() == 1);
    CHECK(findings.all()[0].code == "image-hash");
    CHECK(findings.all()[0].text.starts_with("the SHA-1 of the disk is"));
  }
  SECTION("there is none") {
    std::vector<ImageHash> hashes;
    verify_hashes(disk, hashes, nullptr, findings);
    REQUIRE(findings.all().size() == 1);
    CHECK(findings.all()[0].code == "image-hash-none");
  }
}

TEST_CASE("hashes of a disk that cannot be read to its end are not checked") {
  const std::vector<std::byte> bytes(size);
  const core::MemoryImage disk{core::ByteView{bytes}};
  const fixtures::FailingImage bad{disk, {{size - 512, 512}}};
  auto hashes = stated(md5, sha1);
  core::Findings findings;
  verify_hashes(bad, hashes, nullptr, findings);
  CHECK_FALSE(hashes[0].matches());
  CHECK_FALSE(hashes[1].matches());
  REQUIRE(findings.all().size() == 1);
  CHECK(findings.all()[0].code == "image-hash");
  CHECK(findings.all()[0].first_offset);
}
