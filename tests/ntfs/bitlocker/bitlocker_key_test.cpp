#include "coldtrace/ntfs/bitlocker/bitlocker_key.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace coldtrace;
using namespace coldtrace::ntfs;

namespace {

std::string to_hex(core::ByteView bytes) {
  std::string text;
  for (const auto byte : bytes) text += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  return text;
}

// A protector that a password may open: a datum with a salt, which is all that is looked at first.
BitLockerProtector password_protector() {
  std::vector<std::byte> salted(8 + 4 + 16);
  salted[0] = static_cast<std::byte>(salted.size());
  salted[4] = std::byte{3};  // a stretched key
  return {{}, {}, bitlocker_protector::password, salted};
}

}  // namespace

// The hashes are those of Python's hashlib.
TEST_CASE("a password is hashed twice, and eight groups of digits once") {
  CHECK(to_hex(bitlocker_password("Schl\u00fcssel 1!").bytes) ==
        "cd0408d978ab2b4ddb0f98dd163dc82c4cbe14b5c251596311d78c21c0b1f573");
  const auto text =
      "Recovery Key:\r\n\t302313-103257-516560-720874-000011-000000-246895-654324\r\n";
  const auto key = bitlocker_recovery_password(text);
  REQUIRE(key);
  CHECK(to_hex(key->bytes) == "4691cb25d8e5ae9dfce07ca8b7fc37ee20d6e4d02411e29e4970b66e5c9d7986");
}

TEST_CASE("a group that is not a multiple of 11 is told, and a text without groups") {
  struct Row {
    const char* why;
    const char* text;
    unsigned group;
  };
  const auto row = GENERATE(values<Row>({
      {"a digit is wrong", "302313-103257-516560-720874-000011-000001-246895-654324", 6},
      {"too large", "720896-103257-516560-720874-000011-000000-246895-654324", 1},
      {"seven groups", "302313-103257-516560-720874-000011-000000-246895", 0},
      {"a digit more behind", "302313-103257-516560-720874-000011-000000-246895-6543240", 0},
      {"nothing", "", 0},
  }));
  CAPTURE(row.why);
  const auto key = bitlocker_recovery_password(row.text);
  REQUIRE_FALSE(key);
  CHECK(key.error() == row.group);
}

TEST_CASE("keys behind those that are tried are told") {
  BitLockerMetadata metadata;
  metadata.protectors.assign(33, password_protector());
  const std::vector keys{bitlocker_password("one"), bitlocker_password("two")};
  core::Findings findings;
  CHECK_FALSE(open_bitlocker(metadata, keys, findings, 0));
  REQUIRE(findings.all().size() == 1);
  CHECK(findings.all().front().code == "bitlocker-key");
  CHECK(findings.all().front().text.starts_with("2 of 2 keys were not tried"));
}
