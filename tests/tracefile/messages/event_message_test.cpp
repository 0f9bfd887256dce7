#include "coldtrace/tracefile/messages/event_message.hpp"

#include <catch2/catch.hpp>

#include "coldtrace/core/text.hpp"

namespace coldtrace::tracefile {
namespace {

FieldSchema field(InType in, OutType out = OutType::none) {
  FieldSchema made;
  made.name = "F";
  made.in = in;
  made.out = out;
  return made;
}

EventSchema schema_of(std::string message, std::vector<FieldSchema> fields) {
  EventSchema schema;
  schema.message = std::move(message);
  schema.fields = std::move(fields);
  return schema;
}

Event event_of(core::ByteView payload) {
  Event event{};
  event.payload = payload;
  event.pointer_size = 8;
  return event;
}

std::vector<std::byte> bytes(std::initializer_list<unsigned> values) {
  std::vector<std::byte> made;
  for (const auto value : values) made.push_back(static_cast<std::byte>(value));
  return made;
}

}  // namespace

TEST_CASE("a message has the values of its event where it says so") {
  const Clock clock;
  EventMessage messages{clock};
  auto rows = field(InType::structure);
  rows.count = {FieldSchema::Rule::fixed, 2};
  rows.members = {field(InType::u8), field(InType::u8)};
  auto mapped = field(InType::u8);
  ValueMap map;
  map.entries = {{7, "seven"}};
  mapped.map = std::make_shared<const ValueMap>(map);
  const std::vector<FieldSchema> fields = {field(InType::u8),     rows,
                                           field(InType::ansi),   mapped,
                                           field(InType::bool32), field(InType::hex32),
                                           field(InType::i8)};
  const auto payload = bytes({5, 1, 2, 3, 4, 'h', 'i', 0, 7, 1, 0, 0, 0, 0x1f, 0, 0, 0, 0xfe});
  const auto made = [&](std::string message) {
    return messages.make(schema_of(std::move(message), fields), event_of(payload));
  };
  CHECK(made("%1") == "5");
  CHECK(made("%2;%3;%4;%5;%6;%7.") == "1, 2, 3, 4;hi;seven;true;0x1f;-2.");
  CHECK(made("%1!s!%3!10.10s!%t%%1%n%b%!%r%.") == "5hi\t%1\n !\r.");
  CHECK(made("no such %8 and %99!x!, %") == "no such %8 and %99!x!, %");
  CHECK(made("stop%0 here") == "stop");
  CHECK(made("%12") == "%12");
  CHECK(made("").empty());
  CHECK_FALSE(messages.cut());
  // As far as a payload goes that ends early.
  const auto short_one = bytes({5, 1});
  CHECK(messages.make(schema_of("%1 %3", fields), event_of(short_one)) == "5 %3");
}

TEST_CASE("a message is cut that its values would make much longer than they are") {
  const Clock clock;
  EventMessage messages{clock};
  std::string message;
  for (int i = 0; i < 1000; ++i) message += "%1";
  std::vector<std::byte> payload(1000, std::byte{'x'});
  const auto text = messages.make(schema_of(message, {field(InType::ansi)}), event_of(payload));
  CHECK(messages.cut());
  CHECK(text.size() <= 4096 + 4 * (message.size() + payload.size()));
  CHECK(text.size() > 4096);
}

}  // namespace coldtrace::tracefile
