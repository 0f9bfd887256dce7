#include "coldtrace/pe/message_table.hpp"

#include "fixtures/builders/byte_writer.hpp"
#include "tests/pe/pe_test.hpp"

namespace coldtrace {
namespace {

TEST_CASE("messages have numbers and text in their encoding") {
  const auto bytes = fixtures::build_message_table(
      0xc0000001, {{"Unicode \xe2\x82\xac\r\n", true}, {"plain\r\n", false}, {"", true}});
  core::Findings findings;
  const auto messages = pe::read_message_table(bytes, 0, findings);
  CHECK(findings.empty());
  REQUIRE(messages.size() == 3);
  CHECK(messages[0].id == 0xc0000001);
  CHECK(messages[0].encoding == pe::MessageEncoding::utf16);
  CHECK(pe::to_text(messages[0]) == "Unicode \xe2\x82\xac\r\n");
  CHECK(messages[1].encoding == pe::MessageEncoding::ansi);
  CHECK(pe::to_text(messages[1]) == "plain\r\n");
  CHECK(messages[2].id == 0xc0000003);
  CHECK(pe::to_text(messages[2]).empty());
}

TEST_CASE("a message table cut anywhere is a finding") {
  const auto bytes = fixtures::build_message_table(1, {{"one", true}, {"two", false}});
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    const std::unique_ptr<std::byte[]> copy{new std::byte[cut]};
    std::copy_n(bytes.begin(), cut, copy.get());
    core::Findings findings;
    (void)pe::read_message_table({copy.get(), cut}, 0, findings);
    CHECK_FALSE(findings.empty());
  }
}

TEST_CASE("damaged message tables are findings") {
  struct Row {
    const char* why;
    std::size_t at;
    u32 content;
    const char* code;
  };
  const auto row = GENERATE(values<Row>({
      {"four billion blocks", 0, ~u32{0}, "message-block"},
      {"a block that ends before it starts", 4, 0x1000, "message-block"},
      {"a block of four billion messages", 8, ~u32{0}, "message-entry"},
      {"entries behind the end", 12, 0x7000'0000, "message-entry"},
      {"entries inside the block table: no length", 12, 1, "message-entry"},
      {"an entry longer than the table", 16, 0x0001'ffff, "message-entry"},
      {"an entry shorter than its header", 16, 0x0001'0002, "message-entry"},
      {"an encoding of the future", 16, 0x0003'000c, "message-entry"},
  }));
  CAPTURE(row.why);
  auto bytes = fixtures::build_message_table(0x100, {{"one", true}, {"two", false}});
  std::memcpy(bytes.data() + row.at, &row.content, 4);
  core::Findings findings;
  (void)pe::read_message_table(bytes, 0, findings);
  CHECK(findings.count(row.code) >= 1);
}

TEST_CASE("blocks that share their entries cost no more than the resource's bytes") {
  fixtures::ByteWriter out;
  constexpr u32 blocks = 1000;
  out.write_u32(blocks);
  for (u32 i = 0; i < blocks; ++i) out.write_u32(0).write_u32(999).write_u32(4 + blocks * 12);
  for (u32 i = 0; i < 1000; ++i) out.write_u16(4).write_u16(0);
  core::Findings findings;
  const auto messages = pe::read_message_table(out.view(), 0, findings);
  CHECK(messages.size() <= out.size() / 4);
  CHECK(findings.count("message-entry") > 0);
}

}  // namespace
}  // namespace coldtrace
