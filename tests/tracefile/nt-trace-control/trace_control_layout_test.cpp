#include <map>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "coldtrace/nt_trace_control/trace_control_buffer.hpp"
#include "coldtrace/nt_trace_control/trace_control_code.hpp"
#include "fixtures/builders/byte_writer.hpp"

namespace coldtrace::tracefile {
namespace {

using fixtures::ByteWriter;

using Fields = std::map<std::string, const DecodedControlField*>;

Fields by_name(const DecodedControlBuffer& buffer) {
  Fields fields;
  for (const auto& field : buffer.fields) CHECK(fields.emplace(field.name, &field).second);
  return fields;
}

// Every byte tells where it is.
std::vector<std::byte> pattern(std::size_t size) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < size; ++i) bytes.push_back(static_cast<std::byte>(i + 0x10));
  return bytes;
}

u64 number_in_pattern(u64 offset, u64 size) {
  u64 number = 0;
  for (u64 i = size; i > 0; --i) number = number * 256 + (offset + i - 1 + 0x10) % 256;
  return number;
}

// An enable notification with an indicator of what follows.
ByteWriter enable_notification(u64 following) {
  ByteWriter out;
  out.write_u32(3).pad_to(0x70).write_u32(1).write_u32(following);
  return out;
}

ByteWriter& add_filter(ByteWriter& out, u64 id, u64 size, u64 next) {
  return out.write_u16(id).write_u8(1).write_zeros(5).write_u64(0x77).write_u32(size).write_u32(
      next);
}

}  // namespace

// Offsets and versions as the document's tables and sentences have them.
TEST_CASE("what the document lays out is decoded there") {
  struct Row {
    const char* section;
    u32 code;
    KernelVersion version;
    ControlDirection direction;
    const char* field;
    u64 offset;
    u64 size;
  };
  using enum KernelVersion;
  using enum ControlDirection;
  const auto row = GENERATE(values<Row>({
      {"EtwStartLoggerCode (0x01)", 0x01, v10_0, input, "Wnode.BufferSize", 0, 4},
      {"EtwStartLoggerCode (0x01)", 0x05, v6_0, output, "Wnode.Flags", 0x2c, 4},
      {"Function Code 0x0B", 0x0b, v6_0, input, "LoggerId", 0, 4},
      {"Function Code 0x0B", 0x0b, v6_0, input, "consumer ID", 4, 4},
      {"Function Code 0x0B", 0x0b, v6_0, output, "pipe handle", 8, 8},
      {"Function Code 0x0B", 0x0b, v6_0, output, "reference clock.StartTime", 0x10, 8},
      {"Function Code 0x0B", 0x0b, v6_1, input, "ReservedBufferSpaceSize", 4, 4},
      {"Function Code 0x0B", 0x0b, v6_1, input, "ReservedBufferSpace", 8, 8},
      {"Function Code 0x0B", 0x0b, v6_1, input, "buffer of the ReservedBufferSpaceBitMap", 0x10, 8},
      {"Function Code 0x0B", 0x0b, v6_2, input, "DisconnectEvent", 0x18, 8},
      {"Function Code 0x0B", 0x0b, v6_2, input, "DataAvailableEvent", 0x20, 8},
      {"Function Code 0x0B", 0x0b, v6_2, input, "UserBufferListHead", 0x28, 8},
      {"Function Code 0x0B", 0x0b, v6_2, input, "UserBufferCount", 0x30, 8},
      {"Function Code 0x0B", 0x0b, v6_1, output, "handle of the EtwConsumer", 0x38, 8},
      {"Function Code 0x0B", 0x0b, v6_2, output, "reference clock.StartPerfClock", 0x48, 8},
      {"Function Code 0x0B", 0x0b, v6_3, input, "EventsLostCount", 0x38, 8},
      {"Function Code 0x0B", 0x0b, v10_0, input, "BuffersLostCount", 0x40, 8},
      {"Function Code 0x0B", 0x0b, v10_0, output, "handle of the EtwConsumer", 0x48, 8},
      {"Function Code 0x0B", 0x0b, v6_3, output, "reference clock.StartTime", 0x50, 8},
      {"EtwActivityIdCreate (0x0C)", 0x0c, v10_0, output, "activity ID", 0, 16},
      {"EtwWdiScenarioCode (0x0D)", 0x0d, v6_0, input, "registration handle", 0, 8},
      {"EtwWdiScenarioCode (0x0D)", 0x0d, v6_0, input, "event descriptor.Keyword", 0x10, 8},
      {"EtwWdiScenarioCode (0x0D)", 0x0d, v10_0, input, "activity ID", 0x18, 16},
      {"EtwWdiScenarioCode (0x0D)", 0x0d, v10_0, input, "control code", 0x28, 4},
      {"Function Code 0x0E", 0x0e, v6_0, input, "logger ID", 0, 4},
      {"Function Code 0x0E", 0x0e, v6_0, input, "consumer ID", 4, 4},
      {"Function Code 0x0E", 0x0e, v6_1, input, "handle of the EtwConsumer", 0, 4},
      {"Function Code 0x0F", 0x0f, v6_0, input, "header.provider GUID", 0, 16},
      {"Function Code 0x0F", 0x0f, v6_0, input, "header.notification type", 0x10, 4},
      {"Function Code 0x0F", 0x0f, v6_0, input, "header.registration index", 0x14, 2},
      {"Function Code 0x0F", 0x0f, v6_0, output, "header.handle of the ETW_REG_ENTRY", 0x18, 8},
      {"Function Code 0x0F", 0x0f, v6_2, input, "header.reserved", 0x20, 8},
      {"Function Code 0x0F", 0x0f, v6_3, input, "header.callback function", 0x20, 8},
      {"Function Code 0x0F", 0x0f, v10_0, output,
       "enable notification.notification header.NotificationSize", 0x28 + 4, 4},
      {"Function Code 0x0F", 0x0f, v10_0, output, "enable notification.enable info.IsEnabled",
       0x28 + 0x48, 4},
      {"Function Code 0x0F", 0x0f, v10_0, output, "enable notification.enable context.LoggerId",
       0x28 + 0x68, 2},
      {"Function Code 0x0F", 0x0f, v10_0, output, "enable notification.events enabled", 0x28 + 0x70,
       4},
      {"Function Code 0x0F", 0x0f, v6_0, output, "enable notification.reserved", 0x28 + 0x74, 4},
      {"Function Code 0x0F", 0x0f, v6_1, output, "enable notification.following data", 0x28 + 0x74,
       4},
      {"Function Code 0x10", 0x10, v10_0, output, "NotificationSize", 4, 4},
      {"Function Code 0x11", 0x11, v10_0, input, "NotificationType", 0, 4},
      {"Function Code 0x11", 0x11, v10_0, output, "ReplyHandle", 0x18, 8},
      {"Function code 0x12", 0x12, v10_0, input, "SourceGuid", 0x38, 16},
      {"Function Code 0x19", 0x19, v6_2, input, "logger ID", 0, 4},
      {"Function Code 0x19", 0x19, v10_0, output, "StartPerfClock", 8, 8},
      {"Function Code 0x1B", 0x1b, v6_3, input, "event handle", 0, 4},
      {"Function Code 0x1C", 0x1c, v10_0, input, "entry count", 4, 4},
      {"Function Code 0x1C", 0x1c, v10_0, input, "entries[1].entry", 0x18, 16},
      {"Function Code 0x1F", 0x1f, v10_0, input, "provider handle", 0, 8},
      {"Function Code 0x1F", 0x1f, v10_0, input, "use descriptor type", 8, 1},
  }));
  CAPTURE(row.section, row.code, to_string(row.version), row.field);
  const auto bytes = pattern(0x200);
  const auto buffer = decode_control_buffer(row.code, row.version, row.direction, bytes);
  const auto fields = by_name(buffer);
  const auto found = fields.find(row.field);
  REQUIRE(found != fields.end());
  const auto& field = *found->second;
  CHECK(field.offset == row.offset);
  REQUIRE(size_of(field.type) == row.size);
  if (row.size == 16) {
    CHECK(field.bytes == core::to_guid(core::ByteView{bytes}.subspan(row.offset)));
  } else {
    CHECK(field.number == number_in_pattern(row.offset, row.size));
  }
}

TEST_CASE("what a version does not have is not decoded") {
  const auto bytes = pattern(0x200);
  for (const auto version : kernel_versions)
    for (const u32 code : {0x00U, 0x06U, 0x13U, 0x15U, 0x1dU, 0x23U, 0x19U, 0x1bU, 0x1fU}) {
      const auto* row = find_control_code(code);
      if (row && row->versions.contains(version) && row->input_structure != ControlStructure::none)
        continue;
      const auto buffer = decode_control_buffer(code, version, ControlDirection::input, bytes);
      CHECK(buffer.layout == nullptr);
      CHECK(buffer.fields.empty());
      CHECK(buffer.rest_size == bytes.size());
    }
}

TEST_CASE("of every buffer that is cut off, what is there is decoded") {
  const auto bytes = pattern(0x100);
  std::size_t decoded = 0;
  for (const auto& code : control_codes())
    for (const auto version : kernel_versions)
      for (const auto direction : {ControlDirection::input, ControlDirection::output}) {
        const auto whole = decode_control_buffer(code.code, version, direction, bytes);
        if (!whole.layout) continue;
        for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
          const auto part = decode_control_buffer(code.code, version, direction,
                                                  core::ByteView{bytes}.first(cut));
          auto found = part.fields.begin();
          bool right = true;
          for (const auto& field : whole.fields)
            if (field.offset + size_of(field.type) <= cut)
              right = right && found != part.fields.end() && (found++)->name == field.name;
          right = right && found == part.fields.end() &&
                  part.findings.count("control-truncated") == (cut < whole.layout->size ? 1 : 0) &&
                  part.rest_offset + part.rest_size == cut;
          ++decoded;
          if (!right) FAIL_CHECK(code.name << ", " << to_string(version) << ", cut at " << cut);
        }
      }
  CHECK(decoded > 10'000);
}

// Source: NtTraceControl, "Function Code 0x0F".
TEST_CASE("filters follow an enable notification as each version writes them") {
  auto old = enable_notification(0x80000000);
  add_filter(old, 5, 0x20, 0x20).write_zeros(8);
  add_filter(old, 6, 0x18, 0);
  auto recent = enable_notification(1);
  recent.write_u64(0x90).write_u32(0x40).write_u32(0x80000000).write_zeros(8);
  const auto start = recent.size();
  REQUIRE(start == 0x90);
  add_filter(recent, 5, 0x20, 0x28).write_zeros(0x10);
  add_filter(recent, 6, 0x18, 0);

  auto decoded =
      decode_control_buffer(0x11, KernelVersion::v6_1, ControlDirection::input, old.view());
  auto fields = by_name(decoded);
  CHECK(decoded.findings.empty());
  CHECK(decoded.rest_size == 0);
  REQUIRE(fields.contains("filters[1].Id"));
  CHECK(fields["filters[0].Id"]->number == 5);
  CHECK(fields["filters[1].Id"]->offset == 0x98);
  CHECK_FALSE(fields.contains("filter descriptor.Ptr"));

  decoded = decode_control_buffer(0x11, KernelVersion::v6_0, ControlDirection::input, old.view());
  CHECK(by_name(decoded).count("filters[0].Id") == 0);
  CHECK(decoded.rest_size == 0x38);

  for (const u32 code : {0x10U, 0x11U}) {
    const auto direction = code == 0x10 ? ControlDirection::output : ControlDirection::input;
    decoded = decode_control_buffer(code, KernelVersion::v10_0, direction, recent.view());
    fields = by_name(decoded);
    CHECK(decoded.findings.empty());
    CHECK(fields["filter descriptor.Type"]->value_name == "EVENT_FILTER_TYPE_SCHEMATIZED");
    CHECK(fields["filters[1].Id"]->number == 6);
  }

  ByteWriter reply;
  reply.write_zeros(0x28).write_bytes(recent.view());
  decoded =
      decode_control_buffer(0x0f, KernelVersion::v6_3, ControlDirection::output, reply.view());
  fields = by_name(decoded);
  REQUIRE(fields.contains("filters[1].Id"));
  CHECK(fields["filters[1].Id"]->offset == 0x28 + start + 0x28);
}

TEST_CASE("damaged filters are said and end the walk") {
  struct Row {
    const char* why;
    u64 size, next;
    u64 ptr, all;
  };
  const auto row = GENERATE(values<Row>({
      {"smaller than its header", 0x17, 0, 0x88, 0x18},
      {"longer than all filters", 0x19, 0, 0x88, 0x18},
      {"the next inside the first", 0x18, 0x17, 0x88, 0x18},
      {"the next behind the end", 0x18, 0x18, 0x88, 0x18},
      {"the next far behind the end", 0x18, 0xffffffff, 0x88, 0x18},
      {"no room for a header", 0x18, 0, 0x88, 0x17},
      {"all behind the end", 0x18, 0, 0x89, 0x18},
      {"all far behind the end", 0x18, 0, ~u64{0}, 0x18},
  }));
  CAPTURE(row.why);
  auto bytes = enable_notification(1);
  bytes.write_u64(row.ptr).write_u32(row.all).write_u32(0x80000000);
  add_filter(bytes, 1, row.size, row.next);
  const auto decoded =
      decode_control_buffer(0x11, KernelVersion::v10_0, ControlDirection::input, bytes.view());
  CHECK(decoded.findings.count("control-filters") == 1);
  CHECK(decoded.findings.all()[0].first_offset <= bytes.size());
  CHECK(by_name(decoded).count("filters[1].Id") == 0);
}

// Source: NtTraceControl, "Function Code 0x1C".
TEST_CASE("a disallow list that counts more than it has is said") {
  ByteWriter bytes;
  bytes.write_u32(0).write_u32(3).write_zeros(0x2f);
  const auto decoded =
      decode_control_buffer(0x1c, KernelVersion::v10_0, ControlDirection::input, bytes.view());
  CHECK(decoded.findings.count("control-entries") == 1);
  CHECK(decoded.rest_size == 0xf);
  CHECK(by_name(decoded).count("entries[1].entry") == 1);
  CHECK(by_name(decoded).count("entries[2].entry") == 0);
}

// Source: Microsoft's public symbols, ETW_NOTIFICATION_TYPE; "EtwWdiScenarioCode (0x0D)".
TEST_CASE("values that have names are named") {
  ByteWriter scenario;
  scenario.pad_to(0x28).write_u32(10).write_u32(0);
  auto decoded =
      decode_control_buffer(0x0d, KernelVersion::v6_0, ControlDirection::input, scenario.view());
  CHECK(by_name(decoded)["control code"]->value_name == "start scenario");
  const auto enable = enable_notification(0);
  decoded =
      decode_control_buffer(0x11, KernelVersion::v10_0, ControlDirection::input, enable.view());
  CHECK(by_name(decoded)["notification header.NotificationType"]->value_name ==
        "EtwNotificationTypeEnable");
}

}  // namespace coldtrace::tracefile
