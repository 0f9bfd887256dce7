#include <algorithm>
#include <set>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "coldtrace/nt_trace_control/trace_control_check.hpp"
#include "coldtrace/nt_trace_control/trace_control_code.hpp"
#include "fixtures/builders/byte_writer.hpp"
#include "tests/tracefile/nt-trace-control/trace_control_oracle.hpp"

namespace coldtrace::tracefile {
namespace {

using fixtures::ByteWriter;
using tests::ControlCase;
using tests::documented_answer;

constexpr int version_numbers[] = {600, 601, 602, 603, 1000};

Argument argument(ControlCase::Address address) {
  switch (address) {
    case ControlCase::Address::null:
      return Argument::null;
    case ControlCase::Address::good:
      return Argument::valid;
    case ControlCase::Address::bad:
      break;
  }
  return Argument::invalid;
}

KernelVersion kernel_version(int number) {
  for (std::size_t i = 0; i < std::size(version_numbers); ++i)
    if (version_numbers[i] == number) return kernel_versions[i];
  throw std::invalid_argument{"no such version"};
}

// What the product says, in the oracle's words.
std::string answer(const ControlCase& given) {
  ControlCall call;
  call.code = given.code;
  call.version = kernel_version(given.version);
  call.mode = given.kernel_mode ? CallerMode::kernel : CallerMode::user;
  call.input_length = given.in_buffer_len;
  call.output_length = given.out_buffer_len;
  call.input_buffer = argument(given.in_buffer);
  call.output_buffer = argument(given.out_buffer);
  call.return_size = argument(given.return_size);
  call.input = given.input;
  const auto expectation = expected_status(call);
  if (expectation.outcome != Outcome::fails) return std::string{to_string(expectation.outcome)};
  std::string text;
  for (const auto status : expectation.statuses)
    text += fmt::format("{}{:08x}", text.empty() ? "" : " ", static_cast<u32>(status));
  return text;
}

void compare(const ControlCase& call) {
  const auto expected = documented_answer(call);
  const auto found = answer(call);
  if (expected == found) return;
  INFO(fmt::format("code {:#x}, version {}, {} mode, input {:#x}, output {:#x}", call.code,
                   call.version, call.kernel_mode ? "kernel" : "user", call.in_buffer_len,
                   call.out_buffer_len));
  CHECK(found == expected);
}

std::vector<u32> all_codes() {
  std::vector<u32> codes;
  for (u32 code = 0; code <= 0x30; ++code) codes.push_back(code);
  codes.insert(codes.end(), {0x101, 0x10f, 0x80000001, 0xffffffff});
  return codes;
}

// Calls `use` for every code, version and mode.
template <class Use>
void for_all_codes(Use use) {
  for (const auto code : all_codes())
    for (const auto version : version_numbers)
      for (const bool kernel_mode : {false, true}) {
        ControlCase call;
        call.code = code;
        call.version = version;
        call.kernel_mode = kernel_mode;
        use(call);
      }
}

constexpr u32 largest_size = 0x200;
constexpr u32 sizes_of_the_other[] = {0,    1,    4,    8,    0x10, 0x18,    0x20,   0x30,
                                      0x50, 0x60, 0x78, 0xa0, 0xb0, 0x10000, 0x10001};

// Whether it is one of these, at which answers turn, or next to one.
bool is_near_a_limit(u32 size) {
  return std::any_of(std::begin(sizes_of_the_other), std::end(sizes_of_the_other),
                     [&](u32 limit) { return size + 1 >= limit && size <= limit + 1; });
}

// Calls `use` for sizes of the other buffer: all of them where the size is near a limit, else
// three, which are others from size to size.
template <class Use>
void for_others_of(u32 size, Use use) {
  const u32 step = is_near_a_limit(size) ? 1 : 5;
  for (std::size_t i = size % step; i < std::size(sizes_of_the_other); i += step)
    use(sizes_of_the_other[i]);
}

}  // namespace

// Source: NtTraceControl, "Valid Function Codes".
TEST_CASE("the function codes are those of the document's table") {
  struct Row {
    u32 code;
    const char* name;
    const char* versions;
  };
  const std::vector<Row> table{
      {0x01, "EtwStartLoggerCode", "6.0"},
      {0x02, "EtwStopLoggerCode", "6.0"},
      {0x03, "EtwQueryLoggerCode", "6.0"},
      {0x04, "EtwUpdateLoggerCode", "6.0"},
      {0x05, "EtwFlushLoggerCode", "6.0"},
      {0x0b, "real-time connect", "6.0"},
      {0x0c, "EtwActivityIdCreate", "6.0"},
      {0x0d, "EtwWdiScenarioCode", "6.0"},
      {0x0e, "real-time disconnect consumer by handle", "6.0"},
      {0x0f, "register user-mode GUID", "6.0"},
      {0x10, "receive notification", "6.0"},
      {0x11, "enable GUID", "6.0"},
      {0x12, "send reply data block", "6.0"},
      {0x13, "receive reply data block", "6.0"},
      {0x14, "EtwWdiSemUpdate", "6.0"},
      {0x15, "get trace GUID list", "6.0"},
      {0x16, "get trace GUID information", "6.0"},
      {0x17, "enumerate trace GUIDs", "6.0"},
      {0x18, "register security provider", "6.0"},
      {0x19, "query reference time", "6.2"},
      {0x1a, "track provider binary", "6.2"},
      {0x1b, "add notification event", "6.3"},
      {0x1c, "update disallow list", "10.0"},
      {0x1e, "set provider traits", "10.0"},
      {0x1f, "use descriptor type", "10.0"},
      {0x20, "get trace group list", "10.0"},
      {0x21, "get trace group information", "10.0"},
      {0x22, "get disallow list", "10.0"},
  };
  const auto codes = control_codes();
  REQUIRE(codes.size() == table.size());
  // "Microsoft's names for eight of the valid function codes are known"
  CHECK(std::count_if(codes.begin(), codes.end(),
                      [](const auto& code) { return code.microsoft_name; }) == 8);
  for (std::size_t i = 0; i < table.size(); ++i) {
    CAPTURE(table[i].name);
    CHECK(codes[i].code == table[i].code);
    CHECK(codes[i].name == table[i].name);
    CHECK(to_string(codes[i].versions.first) == table[i].versions);
    CHECK(codes[i].versions.last == KernelVersion::v10_0);
    CHECK(codes[i].microsoft_name == (codes[i].name.substr(0, 3) == "Etw"));
    CHECK_FALSE(codes[i].section.empty());
    // "Except for function codes 0x0C, 0x0E and 0x1B [...] the function double-buffers."
    CHECK(codes[i].double_buffered == !std::set<u32>{0x0c, 0x0e, 0x1b}.contains(codes[i].code));
  }
}

TEST_CASE("each function code checks what its section says") {
  struct Row {
    const char* section;
    u32 code;
    int version;
    u32 input;
    u32 output;
    const char* expected;
  };
  const auto row = GENERATE(values<Row>({
      {"EtwStartLoggerCode (0x01)", 0x01, 1000, 0xaf, 0xb0, "c0000206"},
      {"EtwStopLoggerCode (0x02)", 0x02, 1000, 0xb0, 0xaf, "c0000206"},
      {"EtwQueryLoggerCode (0x03)", 0x03, 1000, 0, 0, "c0000206"},
      {"EtwUpdateLoggerCode (0x04)", 0x04, 1000, 0xb0, 0xb0, "undecided"},
      {"EtwFlushLoggerCode (0x05)", 0x05, 600, 0xb0, 0xaf, "c0000206"},
      {"Valid Function Codes", 0x00, 1000, 0, 0, "c0000010"},
      {"Valid Function Codes", 0x06, 1000, 0xb0, 0xb0, "c0000010"},
      {"Valid Function Codes", 0x0a, 600, 0, 0, "c0000010"},
      {"Valid Function Codes", 0x1d, 1000, 8, 0, "c0000010"},
      {"Valid Function Codes", 0x23, 1000, 0, 0, "c0000010"},
      {"Function Code 0x0B", 0x0b, 600, 0x20, 0x20, "passes"},
      {"Function Code 0x0B", 0x0b, 600, 0x50, 0x50, "c000000d"},
      {"Function Code 0x0B", 0x0b, 601, 0x50, 0x50, "passes"},
      {"Function Code 0x0B", 0x0b, 602, 0x50, 0x50, "passes"},
      {"Function Code 0x0B", 0x0b, 603, 0x50, 0x50, "c000000d"},
      {"Function Code 0x0B", 0x0b, 603, 0x60, 0x60, "passes"},
      {"Function Code 0x0B", 0x0b, 1000, 0x60, 0x5f, "c000000d"},
      {"EtwActivityIdCreate (0x0C)", 0x0c, 600, 0, 0x10, "c000000d"},
      {"EtwActivityIdCreate (0x0C)", 0x0c, 601, 0x10, 0x10, "passes"},
      {"EtwActivityIdCreate (0x0C)", 0x0c, 602, 0, 0x10, "passes"},
      {"EtwActivityIdCreate (0x0C)", 0x0c, 1000, 0, 0x11, "c000000d"},
      {"EtwWdiScenarioCode (0x0D)", 0x0d, 1000, 0x30, 0, "passes"},
      {"EtwWdiScenarioCode (0x0D)", 0x0d, 1000, 0x30, 1, "c000000d"},
      {"Function Code 0x0E", 0x0e, 600, 8, 0, "passes"},
      {"Function Code 0x0E", 0x0e, 1000, 4, 0, "c000000d"},
      {"Function Code 0x0F", 0x0f, 1000, 0xa0, 0xa0, "unknown"},
      {"Function Code 0x10", 0x10, 1000, 0, 0x48, "unknown"},
      {"Function Code 0x11", 0x11, 1000, 0x78, 0x48, "unknown"},
      {"Function code 0x12", 0x12, 1000, 0x48, 0, "unknown"},
      {"Function Code 0x13", 0x13, 1000, 7, 0, "c000000d"},
      {"Function Code 0x13", 0x13, 1000, 8, 0x100, "passes"},
      {"EtwWdiSemUpdate (0x14)", 0x14, 1000, 0, 0, "passes"},
      {"EtwWdiSemUpdate (0x14)", 0x14, 1000, 1, 0, "c000000d"},
      {"Function Code 0x15", 0x15, 1000, 3, 5, "passes"},
      {"Function Code 0x16", 0x16, 1000, 0x10, 0, "passes"},
      {"Function Code 0x16", 0x16, 1000, 0x11, 0, "c000000d"},
      {"Function Code 0x17", 0x17, 600, 0, 0, "passes"},
      {"Function Code 0x18", 0x18, 1000, 0, 1, "c000000d"},
      {"Function Code 0x19", 0x19, 601, 4, 0x10, "c0000010"},
      {"Function Code 0x19", 0x19, 602, 4, 0x10, "passes"},
      {"Function Code 0x19", 0x19, 1000, 2, 0x10, "c000000d"},
      {"Function Code 0x1A", 0x1a, 1000, 8, 0, "passes"},
      {"Function Code 0x1B", 0x1b, 602, 4, 0, "c0000010"},
      {"Function Code 0x1B", 0x1b, 1000, 4, 0, "unknown"},
      {"Function Code 0x1C", 0x1c, 1000, 7, 0, "c000000d"},
      {"Function Code 0x1C", 0x1c, 1000, 8, 0, "undecided"},
      {"Function Code 0x1E", 0x1e, 1000, 0x18, 0x77, "c000000d"},
      {"Function Code 0x1E", 0x1e, 1000, 0x18, 0x78, "passes"},
      {"Function Code 0x1E", 0x1e, 1000, 0x18, 0x10000, "passes"},
      {"Function Code 0x1E", 0x1e, 1000, 0x18, 0x10001, "c000000d"},
      {"Function Code 0x1F", 0x1f, 1000, 0x10, 0, "unknown"},
      {"Function Code 0x20", 0x20, 603, 0, 0, "c0000010"},
      {"Function Code 0x20", 0x20, 1000, 0, 0, "passes"},
      {"Function Code 0x21", 0x21, 1000, 0xf, 0, "c000000d"},
      {"Function Code 0x22", 0x22, 1000, 8, 0, "passes"},
  }));
  CAPTURE(row.section, row.code, row.version, row.input, row.output);
  ControlCase call;
  call.code = row.code;
  call.version = row.version;
  call.in_buffer_len = row.input;
  call.out_buffer_len = row.output;
  CHECK(answer(call) == row.expected);
  const auto* code = find_control_code(row.code);
  if (code) {
    INFO(code->section);
    CHECK((code->code <= 5 || row.expected == std::string{"c0000010"} ||
           code->section == row.section));
  }
}

TEST_CASE("sizes of both buffers come to what the document says") {
  for_all_codes([](ControlCase call) {
    for (u32 size = 0; size <= largest_size; ++size)
      for_others_of(size, [&](u32 other) {
        call.in_buffer_len = size;
        call.out_buffer_len = other;
        compare(call);
        call.in_buffer_len = other;
        call.out_buffer_len = size;
        compare(call);
      });
  });
}

TEST_CASE("what is known of the input decides as the document says") {
  const auto fill = GENERATE(values<std::string>(
      {"zeros", "ones", "logger", "logger and data", "disallow list", "security provider"}));
  CAPTURE(fill);
  for (u32 size = 0; size <= largest_size; ++size) {
    ByteWriter bytes;
    if (fill == "logger" || fill == "logger and data") {
      bytes.write_u32(fill == "logger" ? 0xb0 : size).pad_to(0x2c).write_u32(0x00020000);
    } else if (fill == "disallow list") {
      bytes.write_u32(0).write_u32(size < 8 ? 0 : (size - 8) / 0x10);
    } else if (fill == "security provider") {
      bytes.write_u32(0x54849625).write_u16(0x5478).write_u16(0x4994);
      for (const auto byte : {0xa5, 0xba, 0x3e, 0x3b, 0x03, 0x28, 0xc3, 0x0d})
        bytes.write_u8(static_cast<u64>(byte));
    } else if (fill == "ones") {
      for (u32 i = 0; i < size; ++i) bytes.write_u8(0xff);
    }
    bytes.pad_to(std::max<std::size_t>(size, bytes.size()));
    // Away from limits one of both modes and one of both lengths, by turns.
    const bool all = is_near_a_limit(size);
    for_all_codes([&](ControlCase call) {
      if (!all && call.kernel_mode != (size % 2 == 0)) return;
      call.in_buffer_len = size;
      call.input = bytes.view();
      for (const u32 output : {0U, 0xb0U}) {
        if (!all && (output != 0) != (size / 2 % 2 == 0)) continue;
        call.out_buffer_len = output;
        compare(call);
      }
    });
  }
}

TEST_CASE("addresses come to what the document says") {
  using Address = ControlCase::Address;
  const auto addresses = {Address::null, Address::good, Address::bad};
  for_all_codes([&](ControlCase call) {
    for (const auto input : addresses)
      for (const auto output : addresses)
        for (const auto return_size : addresses)
          for (const u32 size : {0U, 8U, 0x10U, 0xb0U})
            for (const u32 other : {0U, 0x10U, 0xb0U}) {
              call.in_buffer = input;
              call.out_buffer = output;
              call.return_size = return_size;
              call.in_buffer_len = size;
              call.out_buffer_len = other;
              compare(call);
            }
  });
}

TEST_CASE("an output length that is not known leaves open only what depends on it") {
  ControlCall call{.code = 0x0d, .input_length = 0x30};
  CHECK(expected_status(call).outcome == Outcome::undecided);
  call.input_length = 0x31;
  CHECK(expected_status(call).statuses == std::vector{NtStatus::invalid_parameter});
  call = {.code = 0x16, .input_length = 0x10};
  CHECK(expected_status(call).outcome == Outcome::passes);
  call.output_buffer = Argument::invalid;
  CHECK(expected_status(call).outcome == Outcome::fails);
}

TEST_CASE("a status for another version than Windows 10's is marked unless the document has it") {
  ControlCall call{.code = 0x0b, .version = KernelVersion::v6_1, .input_length = 1};
  call.output_length = 0x50;
  CHECK(expected_status(call).stated);
  call.code = 0x0d;
  CHECK_FALSE(expected_status(call).stated);
  call.version = KernelVersion::v10_0;
  CHECK(expected_status(call).stated);
}

// Source: NtTraceControl, "Buffered I/O", "Function Code 0x19".
TEST_CASE("what the system decides is named and taken as passed") {
  ControlCall call{.code = 0x19, .input_length = 4};
  call.output_length = 0x10;
  const auto expectation = expected_status(call);
  CHECK(expectation.outcome == Outcome::passes);
  REQUIRE(expectation.assumed.size() == 2);
  CHECK(expectation.assumed[0]->statuses[0] == NtStatus::no_memory);
  CHECK(expectation.assumed[1]->statuses[0] == NtStatus::wmi_instance_not_found);
  call = {.code = 0x0c};
  call.output_length = 0x10;
  CHECK(expected_status(call).assumed.empty());
}

}  // namespace coldtrace::tracefile
