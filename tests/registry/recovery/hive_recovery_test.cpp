#include "coldtrace/registry/recovery/hive_recovery.hpp"

#include <catch2/catch.hpp>

#include "fixtures/builders/byte_writer.hpp"
#include "registry/recovery/marvin32.hpp"

using namespace coldtrace;
using namespace coldtrace::registry;

namespace {

std::vector<std::byte> hive(u32 primary, u32 secondary) {
  fixtures::ByteWriter bytes;
  bytes.write_text("regf").write_u32(primary).write_u32(secondary).write_u64(0);
  bytes.write_u32(1).write_u32(5).write_u32(0).write_u32(1).write_u32(0x20).write_u32(0x1000);
  bytes.pad_to(508);
  bytes.write_u32(base_block_checksum(bytes.view().first(508)));
  bytes.pad_to(0x1000).write_text("hbin").pad_to(0x2000);
  return bytes.bytes();
}

}  // namespace

TEST_CASE("a clean hive is left as it is") {
  auto bytes = hive(7, 7);
  const auto before = bytes;
  core::Findings findings;
  const auto recovery = recover_hive(bytes, {}, findings);
  REQUIRE(recovery);
  CHECK(recovery->is_complete());
  CHECK(bytes == before);
  CHECK(findings.empty());
}

TEST_CASE("a dirty hive without logs stays as it is, and lacks its last changes") {
  auto bytes = hive(8, 7);
  const auto before = bytes;
  core::Findings findings;
  const std::vector<LogFile> logs{{"SYSTEM.LOG1", {}, {}}, {"SYSTEM.LOG2", {}, "cannot be read"}};
  const auto recovery = recover_hive(bytes, logs, findings);
  REQUIRE(recovery);
  CHECK_FALSE(recovery->is_complete());
  CHECK(recovery->entries == 0);
  REQUIRE(recovery->logs.size() == 2);
  CHECK(recovery->logs[0].left == "empty");
  CHECK(recovery->logs[1].left == "cannot be read");
  CHECK(bytes == before);
  CHECK(findings.count("hive-dirty") == 1);
  CHECK(findings.count("hive-log-other") == 1);
}

TEST_CASE("what is not a hive is refused") {
  std::vector<std::byte> bytes(0x2000);
  core::Findings findings;
  CHECK_FALSE(recover_hive(bytes, {}, findings));
}

// As tests/cli/driver/hive_writer.py has them, in which real logs' hashes come out.
TEST_CASE("the hash of a log is that of the bytes and of their number") {
  struct Row {
    std::string_view text;
    u64 hash;
  };
  const auto row = GENERATE(values<Row>({
      {"", 0xb39efca403966e08},
      {"abcd", 0x20094fb11a6cd086},
      {"abcde", 0x187f15f625046b86},
  }));
  CAPTURE(row.text);
  CHECK(marvin32(std::as_bytes(std::span{row.text})) == row.hash);
}
