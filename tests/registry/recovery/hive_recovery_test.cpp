#include "coldtrace/registry/recovery/hive_recovery.hpp"

#include <catch2/catch.hpp>

#include "fixtures/builders/byte_writer.hpp"
#include "registry/recovery/marvin32.hpp"

using namespace coldtrace;
using namespace coldtrace::registry;

namespace {

using fixtures::ByteWriter;

// Source: M. Suhanov, "Windows registry file format specification", base block.
ByteWriter base_block(u32 primary, u32 secondary, u32 type, u32 bins_size) {
  ByteWriter bytes;
  bytes.write_text("regf").write_u32(primary).write_u32(secondary).write_u64(0);
  bytes.write_u32(1).write_u32(5).write_u32(type).write_u32(1).write_u32(0x20);
  bytes.write_u32(bins_size).pad_to(508);
  return bytes.write_u32(base_block_checksum(bytes.view().first(508)));
}

std::vector<std::byte> hive(u32 primary, u32 secondary, u32 bins_size = 0x1000) {
  auto bytes = base_block(primary, secondary, 0, bins_size);
  bytes.pad_to(0x1000).write_text("hbin").pad_to(0x1000 + bins_size);
  return bytes.bytes();
}

// The same, "Format of log entries": one page of 512 bytes, each of them `fill`.
ByteWriter log_entry(u32 sequence, u32 page, u8 fill) {
  ByteWriter body;
  body.write_u32(page).write_u32(512);
  for (int i = 0; i < 512; ++i) body.write_u8(fill);
  body.pad_to(1024 - 40);
  ByteWriter entry;
  entry.write_text("HvLE").write_u32(1024).write_u32(0).write_u32(sequence).write_u32(0x1000);
  entry.write_u32(1).write_u64(marvin32(body.view()));
  return entry.write_u64(marvin32(entry.view())).write_bytes(body.view());
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
  CHECK_THAT(findings.all().back().text,
             Catch::Contains("SYSTEM.LOG1: empty; SYSTEM.LOG2: cannot be read"));
  core::Findings of_none;
  REQUIRE(recover_hive(bytes, {}, of_none));
  REQUIRE(of_none.count("hive-dirty") == 1);
  CHECK_THAT(of_none.all().front().text, Catch::Contains("there is no log"));
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

TEST_CASE("an entry is applied if it is the next one, and left over if it is not newer") {
  struct Row {
    const char* why;
    u32 second;
    u64 applied;
    u8 found;
    u64 gaps;
  };
  const auto row = GENERATE(values<Row>({
      {"the hive has it", 6, 1, 0x11, 0},
      {"the number of the last one", 7, 1, 0x11, 0},
      {"the next", 8, 2, 0x22, 0},
      {"the next but one", 9, 1, 0x11, 1},
  }));
  CAPTURE(row.why);
  auto bytes = hive(8, 7);
  const auto log = base_block(7, 7, 6, 0x1000)
                       .write_bytes(log_entry(7, 512, 0x11).view())
                       .write_bytes(log_entry(row.second, 512, 0x22).view())
                       .bytes();
  core::Findings findings;
  const std::vector<LogFile> logs{{"SYSTEM.LOG1", log, {}}};
  const auto recovery = recover_hive(bytes, logs, findings);
  REQUIRE(recovery);
  CHECK(recovery->entries == row.applied);
  CHECK(recovery->pages == row.applied);
  CHECK(bytes[0x1000 + 511] == std::byte{0});
  CHECK(bytes[0x1000 + 512] == std::byte{row.found});
  CHECK(bytes[0x1000 + 1023] == std::byte{row.found});
  CHECK(bytes[0x1000 + 1024] == std::byte{0});
  CHECK(findings.count("hive-log-gap") == row.gaps);
  REQUIRE(findings.count("hive-log-applied") == 1);
  const auto* words = row.applied == 1 ? "1 log entry with 1 page of SYSTEM.LOG1 was applied"
                                       : "2 log entries with 2 pages of SYSTEM.LOG1 were applied";
  CHECK_THAT(findings.all().back().text, Catch::Contains(words));
}

// The same, "Old format": one bit for each page of 512 bytes, and pages at the next sector.
TEST_CASE("pages of a log lie behind the sector in which its bitmap ends") {
  const u32 bitmap = GENERATE(1U, 2U, 507U, 508U, 509U);  // bytes; 508 and "DIRT" are one sector
  CAPTURE(bitmap);
  const u32 bins_size = bitmap * 8 * 512;
  auto bytes = hive(8, 7, bins_size);
  auto log =
      base_block(9, 9, 1, bins_size).write_text("DIRT").write_u8(0x02).write_zeros(bitmap - 1);
  log.align(512);
  for (int i = 0; i < 512; ++i) log.write_u8(0x33);
  core::Findings findings;
  const std::vector<LogFile> logs{{"SYSTEM.LOG", log.bytes(), {}}};
  const auto recovery = recover_hive(bytes, logs, findings);
  REQUIRE(recovery);
  CHECK(recovery->entries == 1);
  CHECK(recovery->pages == 1);
  CHECK(bytes.size() == 0x1000 + bins_size);
  CHECK(bytes[0x1000 + 511] == std::byte{0});
  CHECK(bytes[0x1000 + 512] == std::byte{0x33});
  CHECK(bytes[0x1000 + 1023] == std::byte{0x33});
  CHECK(bytes[0x1000 + 1024] == std::byte{0});
  CHECK(findings.count("hive-log-damaged") == 0);
}
